"""The colours of all figures (all chapters): tints of the palette of Okabe and Ito (2008).

Colour-blind readers can tell them apart, and grey printers too; no shape says anything by colour alone.
"""

INK, MUTED, PAPER = "#1a1a1a", "#4d4d4d", "#ffffff"
BLUE, ORANGE, GREEN, GREY = "#d3e8f6", "#fdebc4", "#cdeee2", "#ececec"
