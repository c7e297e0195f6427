select test.id, test1.uniformi, test.normali5 from test, test1 where test1.uniformi > 60 and test.normali5 < 0
select test.id, test1.uniformf, test.normalf5 from test, test1 where test1.uniformf > 60.0 and test.normalf5 < 0.0
select test.id, test.uniformi, test1.uniformi from test, test1 where (test.id - test1.id) < 5 and (test.id - test1.id) > -5 and test.uniformi > test1.uniformi
select test.id, test.uniformf, test1.uniformf from test, test1 where (test.id - test1.id) < 5 and (test.id - test1.id) > -5 and test.uniformf > test1.uniformf
select test.id, test1.uniformi, test.normali20 from test, test1 where (test1.uniformi < test.normali20) and (test.normali20 + 40) > (test1.uniformi - 10)
select test.id, test1.uniformf, test.normalf20 from test, test1 where (test1.uniformf < test.normalf20) and (test.normalf20 + 40.0) > (test1.uniformf - 10.0)
select test.id, test.normali5, test1.normali20 from test, test1 where test.normali5 = test1.normali5 and test.normali5 * test1.normali20 >= -5 and test.normali5 * test1.normali20 <= 5
select test.id, test.normalf5, test1.normalf20 from test, test1 where test.normalf5 = test1.normalf5 and test.normalf5 * test1.normalf20 >= -5.0 and test.normalf5 * test1.normalf20 <= 5.0
select test.id, test1.uniformi, test.normali5, test.normali20 from test, test1 where test1.uniformi >= -1 and test1.uniformi <= 1 or test.normali5 >= -1 and test.normali5 <= 1 or test.normali20 >= -1 and test.normali20 <= 1
select test.id, test1.uniformf, test.normalf5, test.normalf20 from test, test1 where test1.uniformf >= -1.0 and test1.uniformf <= 1.0 or test.normalf5 >= -1.0 and test.normalf5 <= 1.0 or test.normalf20 >= -1.0 and test.normalf20 <= 1.0
