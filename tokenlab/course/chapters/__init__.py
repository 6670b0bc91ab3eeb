"""The tables of the chapters: one module each, with `CHAPTER` and the wrong algorithms that its questions need."""
