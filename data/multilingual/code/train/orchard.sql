-- Which trees gave less than half of what their variety gives on average?

CREATE TABLE tree (
    id       INTEGER PRIMARY KEY,
    variety  TEXT    NOT NULL,
    planted  DATE    NOT NULL CHECK (planted >= '1950-01-01')
);

CREATE TABLE harvest (
    tree_id  INTEGER NOT NULL REFERENCES tree (id),
    year     INTEGER NOT NULL,
    kilos    NUMERIC NOT NULL DEFAULT 0,
    PRIMARY KEY (tree_id, year)
);

WITH average AS (
    SELECT t.variety, h.year, AVG(h.kilos) AS kilos
      FROM harvest AS h
      JOIN tree AS t ON t.id = h.tree_id
     GROUP BY t.variety, h.year
)
SELECT t.id, t.variety, h.kilos, ROUND(a.kilos, 1) AS usual
  FROM tree AS t
  JOIN harvest AS h ON h.tree_id = t.id
  JOIN average AS a ON a.variety = t.variety AND a.year = h.year
 WHERE h.kilos < a.kilos / 2
 ORDER BY t.variety, h.kilos DESC;
