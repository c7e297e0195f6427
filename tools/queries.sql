select count(*), sum(uniformi), min(normalf5), max(uniformf) from test
select sum(uniformi), count(normali5), min(normali20), max(uniformf) from test where normali20 > 10
select avg(uniformf), sum(normalf20) from test where uniformi > 60 and normali5 < 0
select uniformi, count(*), sum(normali5), max(uniformf) from test group by uniformi
select uniformi, normali5, count(*), avg(normalf20) from test where uniformf > 0 group by uniformi, normali5
select id % 1000000, count(*), sum(uniformi) from test group by id % 1000000
select id, uniformi, normalf20 from test order by normalf20 limit 100
select uniformi, id from test where uniformi > 50 order by uniformi desc, id limit 10000
select id, uniformf from test order by uniformf
select count(distinct uniformi) from test
select count(distinct id % 1000000) from test
select distinct uniformi, normali20 from test
select uniformi, count(distinct normali20) from test group by uniformi having count(*) > 1000
select count(*) from test a join test b on a.id = b.id where b.uniformi > 60
select a.uniformi, sum(b.normali5) from test a join test b on a.id = b.id group by a.uniformi
select count(*) from test where id in (select id from test where normali5 > 8)
select count(*) from (select uniformi, rank() over (partition by uniformi order by uniformf) as place from test where normali5 > 10) t where place <= 10
