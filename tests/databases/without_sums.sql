-- SPDX-License-Identifier: MIT
-- What made without_sums.vdb: a vdbq of before tablets had sums of pages, for tablets
-- of more than one page, of most encodings; one of them has an edit.
CREATE TABLE t (id INTEGER PRIMARY KEY, run INTEGER, n INTEGER, s TEXT);
INSERT INTO t
    SELECT id, id / 50, CASE WHEN id % 9 > 0 THEN id * 7919 % 100003 END,
        'the text ' || CAST(id * 37 % 4001 AS TEXT)
    FROM (SELECT row_number() OVER () AS id FROM (VALUES (1), (2), (3), (4), (5),
        (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16), (17), (18),
        (19), (20)) AS a, (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10),
        (11), (12), (13), (14), (15), (16), (17), (18), (19), (20)) AS b,
        (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13),
        (14), (15), (16), (17), (18), (19), (20)) AS c);
UPDATE t SET s = 'changed' WHERE id = 77;
DELETE FROM t WHERE id = 5000;
