"""Images and what is seen in them: `resize`, `images`; `boxes`, `anchors`, `detection`, `regions`."""
