select count(*), count(distinct ip), count(user_id), count(referer), min(ts), max(ts) from weblog
select url, count(*) as c from weblog where status = 200 and url not like '/static/%' group by url order by c desc, url limit 20
select split_part(url, '?', 1) as page, count(*) as c, count(distinct session) as s from weblog group by page order by c desc, page limit 20
select date_trunc('hour', ts) as h, count(*) as c, sum(bytes) as b from weblog group by h order by h
select cast(ts as date) as d, count(distinct user_id) as users, count(distinct ip) as visitors from weblog group by d order by d
select extract(hour from ts) as h, count(*) as c, avg(bytes) as b from weblog group by h order by h
select strftime('%Y-%m', ts) as m, status, count(*) as c from weblog group by m, status order by m, status
select strftime('%H:00', ts) as h, sum(case when status >= 500 then 1 else 0 end) as errors, count(*) as c from weblog group by h order by h
select case when agent like '%Edg/%' then 'Edge' when agent like '%Firefox/%' then 'Firefox' when agent like '%Chrome/%' then 'Chrome' when agent like '%Safari/%' then 'Safari' when agent like '%bot%' or agent like 'curl/%' or agent like 'python-%' then 'bot' else 'other' end as family, count(*) as c, count(distinct ip) as visitors from weblog group by family order by c desc
select regexp_extract(agent, '(Firefox|Chrome|Opera Mini|Version)/([0-9]+)', 1) as browser, regexp_extract(agent, '(Firefox|Chrome|Opera Mini|Version)/([0-9]+)', 2) as version, count(*) as c from weblog group by browser, version order by c desc, browser, version limit 30
select count(*) from weblog where agent ilike '%BOT%' or agent ilike '%CURL%'
select regexp_replace(referer, '^https?://(www\.)?([^/]+)/.*$', '\2') as host, count(*) as c from weblog where referer is not null group by host order by c desc, host limit 25
select status, count(*) as c, count(bytes) as known, min(bytes) as low, max(bytes) as high, avg(bytes) as mean from weblog group by status order by status
select split_part(split_part(url, 'q=', 2), '&', 1) as phrase, count(*) as c from weblog where url like '/search%' group by phrase order by c desc, phrase limit 25
select substr(url, 1, instr(substr(url, 2), '/') + 1) as part, count(*) as c from weblog group by part order by c desc, part limit 20
select ip, count(*) as c, sum(bytes) as b from weblog group by ip order by b desc nulls last, ip limit 20
select session, count(*) as hits, min(ts) as first, max(ts) as last from weblog where session is not null group by session having count(*) >= 5 order by hits desc, session limit 50
select count(*) as sessions from (select user_id, ts, lag(ts) over (partition by user_id order by ts) as before from weblog where user_id is not null) t where before is null or ts > before + interval 30 minute
select user_id, sum(fresh) as sessions, count(*) as clicks from (select user_id, case when before is null or ts > before + interval 30 minute then 1 else 0 end as fresh from (select user_id, ts, lag(ts) over (partition by user_id order by ts) as before from weblog where user_id is not null) t) u group by user_id order by sessions desc, user_id limit 20
select count(distinct a.session) as carts, count(distinct b.session) as checkouts, count(distinct c.session) as orders from weblog a left join weblog b on b.session = a.session and b.url = '/checkout' and b.ts > a.ts left join weblog c on c.session = b.session and c.url = '/order/thanks' and c.ts > b.ts where a.url = '/cart'
select sum(seen) as seen, sum(cart) as cart, sum(paid) as paid from (select session, max(case when url like '/product/%' then 1 else 0 end) as seen, max(case when url = '/cart' then 1 else 0 end) as cart, max(case when url = '/order/thanks' then 1 else 0 end) as paid from weblog where session is not null group by session) t
select after, count(*) as c from (select url, lead(url) over (partition by session order by ts) as after from weblog where session is not null) t where url = '/cart' and after is not null group by after order by c desc, after limit 20
select url, c, place from (select url, c, rank() over (order by c desc) as place from (select url, count(*) as c from weblog where status = 404 group by url) t) u where place <= 10 order by place, url
select day, page, c from (select cast(ts as date) as day, url as page, count(*) as c, row_number() over (partition by cast(ts as date) order by count(*) desc, url) as n from weblog where status = 200 group by day, page) t where n <= 3 order by day, n
select count(*) from weblog where regexp_matches(url, '^/product/[0-9]+(\?utm_source=(mail|ads))?$')
select cast(regexp_extract(url, '^/product/([0-9]+)', 1) as integer) as product, count(*) as c from weblog where url like '/product/%' group by product order by c desc, product limit 20
select count(*), count(distinct referer) from weblog where referer like '%"quoted"%' or agent like '%' || chr(10) || '%'
select status, quantile_cont(bytes, 0.5) as middle, quantile_cont(bytes, 0.95) as high, median(bytes) as again from weblog group by status order by status
select d, c, sum(c) over (order by d) as so_far, c - lag(c) over (order by d) as more from (select cast(ts as date) as d, count(*) as c from weblog group by d) t order by d
select first_day, count(*) as users, sum(case when days > 1 then 1 else 0 end) as back from (select user_id, min(cast(ts as date)) as first_day, count(distinct cast(ts as date)) as days from weblog where user_id is not null group by user_id) t group by first_day order by first_day
