"""Images and what is seen in them: `decode`, `resize`, `rotate`, `images`; `boxes`, `anchors`, `detection`, `regions`."""
