"""What `keras-pleiades demo` does: fresh recordings, networks online on them, and a page of it.

`recordings` makes them, `online` runs networks over them, `gesture`, `eye_tracking` and `detector`
say and draw what came out, and `page` puts it together as one HTML file.
"""
