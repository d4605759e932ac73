"""Images and what is seen in them.

`decode`, `resize`, `rotate` and `images` give images; `boxes`, `anchors`, `detection` and `regions` find objects.
"""
