/* SPDX-License-Identifier: MIT */
/*
 * A mix like TPC-C's, of our own: processes take orders, book payments and ask
 * for orders, each in transactions on a connection of its own. Whoever finds the
 * database busy begins again. At the end sums must be equal and every order must
 * be there that a process was told of.
 *
 * Keys of orders ascend within a district, not in the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"

enum {
    WAREHOUSES = 4,
    DISTRICTS = 10 * WAREHOUSES,
    CUSTOMERS = 300 * DISTRICTS,
    ITEMS = 2000,
    LINES_MIN = 5,
    LINES_MAX = 15,
    ORDERS_MAX = 10000000, /* of a district */
    ORDER_PERCENT = 45, /* of all transactions; then payments, then questions */
    PAYMENT_PERCENT = 43,
    PROCESSES_MAX = 64
};

static const char schema[] =
    "create table warehouse (id integer primary key, total bigint);"
    "create table district (id integer primary key, next_order integer,"
    " total bigint);"
    "create table customer (id integer primary key, balance bigint,"
    " payments integer);"
    "create table item (id integer primary key, price integer);"
    "create table stock (id integer primary key, quantity integer,"
    " sold bigint);"
    "create table orders (id bigint primary key, customer integer,"
    " lines integer, amount bigint);"
    "create table order_line (id bigint primary key, orders bigint,"
    " item integer, quantity integer, amount bigint);"
    "create index orders_customer on orders (customer);"
    "create index order_line_orders on order_line (orders)";

/* Statements of a connection. */
enum statement {
    READ_DISTRICT,
    READ_PRICE,
    TAKE_NUMBER,
    TAKE_STOCK,
    OWE,
    ADD_ORDER,
    ADD_LINE,
    PAY_WAREHOUSE,
    PAY_DISTRICT,
    PAY_CUSTOMER,
    LAST_ORDER,
    READ_LINES,
    STATEMENTS
};
static const char *const texts[STATEMENTS] = {
    [READ_DISTRICT] = "select next_order from district where id = ?",
    [READ_PRICE] = "select price from item where id = ?",
    [TAKE_NUMBER] = "update district set next_order = next_order + 1 "
                    "where id = ?",
    [TAKE_STOCK] =
        "update stock set quantity = quantity - ?2, sold = sold + ?2 "
        "where id = ?1",
    [OWE] = "update customer set balance = balance + ?2 where id = ?1",
    [ADD_ORDER] = "insert into orders values (?, ?, ?, ?)",
    [ADD_LINE] = "insert into order_line values (?, ?, ?, ?, ?)",
    [PAY_WAREHOUSE] = "update warehouse set total = total + ?2 where id = ?1",
    [PAY_DISTRICT] = "update district set total = total + ?2 where id = ?1",
    [PAY_CUSTOMER] = "update customer set balance = balance - ?2, payments = "
                     "payments + 1 where id = ?1",
    [LAST_ORDER] = "select max(id) from orders where customer = ?",
    [READ_LINES] = "select item, quantity, amount from order_line "
                   "where orders = ?",
};

/* What a process was told to be done. */
struct done {
    int64_t orders, lines, payments, questions, paid, owed, busy;
};

struct worker {
    const struct engine *engine;
    void *db;
    void *statements[STATEMENTS];
    uint64_t chance;
    struct done done;
};

/* A random number below `below`. */
static int64_t draw(struct worker *worker, int64_t below)
{
    uint64_t x = worker->chance;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    worker->chance = x;
    return (int64_t)((x >> 11) % (uint64_t)below);
}

/* ----------------------------------------------------------- statements -- */

static void bind(const struct worker *worker, enum statement which,
                 unsigned count, const int64_t *values)
{
    for (unsigned i = 0; i < count; i++)
        worker->engine->bind_integer(worker->statements[which], i + 1,
                                     values[i]);
}

#define VALUES(...)                                                            \
    sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (int64_t[])          \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

/* A change inside a transaction, which is the only writer. */
static void change(const struct worker *worker, enum statement which,
                   unsigned count, const int64_t *values)
{
    bind(worker, which, count, values);
    if (worker->engine->change(worker->statements[which]) != DONE)
        stop_with("%s: busy in a transaction", worker->engine->name);
}

/* The first column of the only row. */
static int64_t ask(const struct worker *worker, enum statement which,
                   int64_t key)
{
    const struct engine *engine = worker->engine;
    void *statement = worker->statements[which];
    int64_t value;

    bind(worker, which, 1, &key);
    if (engine->row(statement) != ROW)
        stop_with("%s: no row: %s", engine->name, texts[which]);
    value = engine->integer(statement, 0);
    engine->end(statement);
    return value;
}

/* ---------------------------------------------------------- transactions -- */

/* Lines of an order: their amount together. */
static int64_t add_lines(struct worker *worker, int64_t order, int64_t lines)
{
    int64_t warehouse = order / ORDERS_MAX % WAREHOUSES, sum = 0;

    for (int64_t i = 0; i < lines; i++) {
        int64_t item = draw(worker, ITEMS), quantity = 1 + draw(worker, 10);
        int64_t amount = quantity * ask(worker, READ_PRICE, item);
        change(worker, TAKE_STOCK, VALUES(warehouse * ITEMS + item, quantity));
        change(
            worker, ADD_LINE,
            VALUES(order * (LINES_MAX + 1) + i, order, item, quantity, amount));
        sum += amount;
    }
    return sum;
}

static void take_order(struct worker *worker)
{
    int64_t district = draw(worker, DISTRICTS);
    int64_t customer =
        district + DISTRICTS * draw(worker, CUSTOMERS / DISTRICTS);
    int64_t lines = LINES_MIN + draw(worker, LINES_MAX - LINES_MIN + 1);
    int64_t number = ask(worker, READ_DISTRICT, district);
    int64_t order = district * ORDERS_MAX + number, amount;

    change(worker, TAKE_NUMBER, VALUES(district));
    amount = add_lines(worker, order, lines);
    change(worker, ADD_ORDER, VALUES(order, customer, lines, amount));
    change(worker, OWE, VALUES(customer, amount));
    worker->done.orders++;
    worker->done.lines += lines;
    worker->done.owed += amount;
}

static void book_payment(struct worker *worker)
{
    int64_t customer = draw(worker, CUSTOMERS);
    int64_t district = customer % DISTRICTS, paid = 1 + draw(worker, 5000);

    change(worker, PAY_WAREHOUSE, VALUES(district % WAREHOUSES, paid));
    change(worker, PAY_DISTRICT, VALUES(district, paid));
    change(worker, PAY_CUSTOMER, VALUES(customer, paid));
    worker->done.payments++;
    worker->done.paid += paid;
}

/* A customer's last order, if there is one, with all of its lines. */
static void ask_for_order(struct worker *worker)
{
    const struct engine *engine = worker->engine;
    void *lines = worker->statements[READ_LINES];
    int64_t order = ask(worker, LAST_ORDER, draw(worker, CUSTOMERS));
    int64_t count = 0;

    bind(worker, READ_LINES, 1, &order);
    while (engine->row(lines) == ROW)
        count++;
    if (order != 0 && (count < LINES_MIN || count > LINES_MAX))
        stop_with("%s: an order has %lld lines", engine->name,
                  (long long)count);
    worker->done.questions++;
}

/* One that writes; from its beginning again as long as others are writing. */
static void write_something(struct worker *worker,
                            void (*write)(struct worker *worker))
{
    const struct engine *engine = worker->engine;

    while (engine->run(worker->db, engine->begin) == BUSY)
        worker->done.busy++;
    write(worker);
    engine_must(engine, worker->db, "COMMIT");
}

static void do_something(struct worker *worker)
{
    int64_t what = draw(worker, 100);

    if (what < ORDER_PERCENT)
        write_something(worker, take_order);
    else if (what < ORDER_PERCENT + PAYMENT_PERCENT)
        write_something(worker, book_payment);
    else
        ask_for_order(worker);
}

/* ------------------------------------------------------------- processes -- */

/* A table of `rows` rows: its numbers and the same values in each. */
static void fill(const struct engine *engine, void *db, const char *table,
                 int64_t rows, const char *values)
{
    char sql[128];
    void *statement;

    snprintf(sql, sizeof sql, "insert into %s values (?1%s)", table, values);
    statement = engine->prepare(db, sql);
    for (int64_t i = 0; i < rows; i++) {
        engine->bind_integer(statement, 1, i);
        if (engine->change(statement) != DONE)
            stop_with("%s: an INSERT was not done", engine->name);
    }
    engine->finish(statement);
}

static void make_tables(const struct engine *engine, const char *path)
{
    void *db;

    engine_remove(path);
    db = engine->open(path);
    engine_must(engine, db, schema);
    engine_must(engine, db, engine->begin);
    fill(engine, db, "warehouse", WAREHOUSES, ", 0");
    fill(engine, db, "district", DISTRICTS, ", 1, 0");
    fill(engine, db, "customer", CUSTOMERS, ", 0, 0");
    fill(engine, db, "item", ITEMS, ", 100");
    fill(engine, db, "stock", ITEMS * WAREHOUSES, ", 100000, 0");
    engine_must(engine, db, "update item set price = 50 + id * 7 % 950");
    engine_must(engine, db, "COMMIT");
    engine->close(db);
}

static void work(const struct engine *engine, const char *path, double until,
                 unsigned number, struct done *done)
{
    struct worker worker = { .engine = engine,
                             .chance = 88172645463325252u + number * 7919u };

    worker.db = engine->open(path);
    for (unsigned i = 0; i < STATEMENTS; i++)
        worker.statements[i] = engine->prepare(worker.db, texts[i]);
    while (seconds() < until)
        do_something(&worker);
    for (unsigned i = 0; i < STATEMENTS; i++)
        engine->finish(worker.statements[i]);
    engine->close(worker.db);
    *done = worker.done;
}

/* A child does the work, so that the next one is forked from a process that has
 * used neither engine. */
static pid_t start(const struct engine *engine, const char *path, double until,
                   unsigned number, struct done *done)
{
    pid_t child = fork();

    if (child < 0)
        stop_with("no process can be started");
    if (child > 0)
        return child;
    if (done != NULL)
        work(engine, path, until, number, done);
    else
        make_tables(engine, path);
    exit(0);
}

static void wait_for(pid_t child)
{
    int result;

    if (waitpid(child, &result, 0) != child || result != 0)
        stop_with("a process has failed");
}

/* ---------------------------------------------------------------- checks -- */

static void must_be(const struct engine *engine, void *db, const char *sql,
                    int64_t expected)
{
    int64_t found = engine_number(engine, db, sql);

    if (found != expected)
        stop_with("%s: %s: %lld, expected %lld", engine->name, sql,
                  (long long)found, (long long)expected);
}

/* Sums that follow from what the processes were told, and from one another. */
static void check(const struct engine *engine, const char *path,
                  const struct done *all)
{
    void *db = engine->open(path);

    must_be(engine, db, "select count(*) from orders", all->orders);
    must_be(engine, db, "select sum(next_order - 1) from district",
            all->orders);
    must_be(engine, db,
            "select count(*) from district d where next_order - 1 <> (select "
            "count(*) from orders o where o.id / 10000000 = d.id)",
            0);
    must_be(engine, db, "select count(*) from order_line", all->lines);
    must_be(engine, db, "select sum(lines) from orders", all->lines);
    must_be(engine, db,
            "select count(*) from orders o where lines <> (select count(*) "
            "from order_line l where l.orders = o.id)",
            0);
    must_be(engine, db, "select sum(amount) from orders", all->owed);
    must_be(engine, db, "select sum(amount) from order_line", all->owed);
    must_be(engine, db, "select sum(total) from warehouse", all->paid);
    must_be(engine, db, "select sum(total) from district", all->paid);
    must_be(engine, db, "select sum(payments) from customer", all->payments);
    must_be(engine, db, "select sum(balance) from customer",
            all->owed - all->paid);
    must_be(engine, db,
            "select (select sum(sold) from stock) - (select sum(quantity) "
            "from order_line)",
            0);
    must_be(engine, db, "select sum(quantity + sold) from stock",
            (int64_t)100000 * ITEMS * WAREHOUSES);
    engine->close(db);
}

static void add(struct done *all, const struct done *one)
{
    all->orders += one->orders;
    all->lines += one->lines;
    all->payments += one->payments;
    all->questions += one->questions;
    all->paid += one->paid;
    all->owed += one->owed;
    all->busy += one->busy;
}

static int64_t transactions(const struct done *done)
{
    return done->orders + done->payments + done->questions;
}

static void report(const struct engine *engine, const struct task *task,
                   const char *path, const struct done *each)
{
    struct done all = { 0 };
    int64_t least = transactions(each);

    for (unsigned i = 0; i < task->processes; i++) {
        add(&all, &each[i]);
        if (transactions(&each[i]) < least)
            least = transactions(&each[i]);
    }
    check(engine, path, &all);
    printf("{\"benchmark\": \"orders\", \"engine\": \"%s\", \"processes\": %u, "
           "\"seconds\": %.3f, \"transactions\": %lld, \"orders\": %lld, "
           "\"payments\": %lld, \"questions\": %lld, \"busy\": %lld, "
           "\"least\": %lld, \"bytes\": %lld}\n",
           engine->name, task->processes, task->seconds,
           (long long)transactions(&all), (long long)all.orders,
           (long long)all.payments, (long long)all.questions,
           (long long)all.busy, (long long)least,
           (long long)engine_bytes(path));
    fflush(stdout);
}

static void measure(const struct engine *engine, const struct task *task,
                    struct done *each)
{
    char path[512];
    pid_t children[PROCESSES_MAX];
    double until;

    snprintf(path, sizeof path, "%s/orders-%s.db", task->folder, engine->name);
    wait_for(start(engine, path, 0, 0, NULL));
    until = seconds() + task->seconds;
    for (unsigned i = 0; i < task->processes; i++)
        children[i] = start(engine, path, until, i, &each[i]);
    for (unsigned i = 0; i < task->processes; i++)
        wait_for(children[i]);
    report(engine, task, path, each);
    engine_remove(path);
}

void orders_run(const struct task *task)
{
    struct done *each =
        mmap(NULL, PROCESSES_MAX * sizeof *each, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (each == MAP_FAILED || task->processes > PROCESSES_MAX)
        stop_with("at most %d processes", (int)PROCESSES_MAX);
    /* SQLite first: it starts no threads that a fork would lose. */
    for (unsigned i = ENGINES; i > 0; i--)
        measure(engines[i - 1], task, each);
}
