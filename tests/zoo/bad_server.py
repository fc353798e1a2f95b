"""A web server on this machine that answers well or badly: `url("cuts_off")` and so on."""

import contextlib
import http.server
import threading
import time


class BadServer(http.server.ThreadingHTTPServer):
    """Serves `content` under every path; the path's first part says how."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, content: bytes):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = content
        self.requests = []  # ways asked for, in order
        self.asked = threading.Event()  # set by "stalls" when it has begun to send
        self.closing = threading.Event()

    def url(self, way: str, name: str = "file.bin") -> str:
        return f"http://127.0.0.1:{self.server_port}/{way}/{name}"

    def handle_error(self, request, client_address):
        pass  # clients of a bad server hang up


@contextlib.contextmanager
def serve(content: bytes):
    server = BadServer(content)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        way = self.path.split("/")[1]
        self.server.requests.append(way)
        getattr(self, way)(self.server.content)

    def begin(self, length=None, status=200, **headers):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def good(self, content):
        self.begin(len(content))
        self.wfile.write(content)

    def without_length(self, content):
        self.begin()
        self.wfile.write(content)

    def chunked(self, content):
        self.protocol_version = "HTTP/1.1"
        self.begin(Transfer_Encoding="chunked", Connection="close")
        for start in range(0, len(content), 1000):
            part = content[start : start + 1000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def chunked_cut_off(self, content):
        self.protocol_version = "HTTP/1.1"
        self.begin(Transfer_Encoding="chunked", Connection="close")
        self.wfile.write(b"%x\r\n%s" % (len(content), content[: len(content) // 2]))

    def redirects(self, content):
        self.begin(0, 302, Location="/good/elsewhere.bin")

    def redirects_for_ever(self, content):
        self.begin(0, 302, Location=self.path)

    def slow(self, content):
        """Everything, in ten parts."""
        self.begin(len(content))
        step = len(content) // 10 + 1
        for start in range(0, len(content), step):
            self.wfile.write(content[start : start + step])
            time.sleep(0.02)

    def drips(self, content):
        """A byte at a time, never late enough for a time-out."""
        self.begin(len(content))
        for i in range(len(content)):
            if self.server.closing.wait(0.02):
                return
            self.wfile.write(content[i : i + 1])

    def stalls(self, content):
        """Half of it, and then silence."""
        self.begin(len(content))
        self.wfile.write(content[: len(content) // 2])
        self.server.asked.set()
        self.server.closing.wait()

    def says_nothing(self, content):
        self.server.closing.wait()

    def cuts_off(self, content):
        self.begin(len(content))
        self.wfile.write(content[: len(content) // 2])

    def says_too_short(self, content):
        self.begin(len(content) // 3)
        self.wfile.write(content)

    def says_too_long(self, content):
        self.begin(10**12)
        self.wfile.write(content)

    def sends_for_ever(self, content):
        self.begin()
        while not self.server.closing.is_set():
            self.wfile.write(bytes(1 << 16))

    def wrong_bytes(self, content):
        self.begin(len(content))
        self.wfile.write(content[:-1] + bytes([content[-1] ^ 1]))

    def login_page(self, content):
        self.begin(Content_Type="text/html")
        self.wfile.write(b"<html>Welcome to the Wi-Fi of this hotel</html>")

    def not_found(self, content):
        self.begin(0, 404)

    def broken(self, content):
        self.begin(0, 500)

    def speaks_no_http(self, content):
        self.wfile.write(b"220 smtp.example.org ESMTP\r\n")

    def hangs_up(self, content):
        pass
