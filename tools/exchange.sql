select count(*) from test join test1 on test.k = test1.k
select test.k, test.v, test1.v from test join test1 on test.k = test1.k where test1.v % 2 = 0
select count(*), max(c) from (select k, count(*) c from test group by k) groups
select k, count(*), sum(v) from test group by k order by 3 desc limit 5
