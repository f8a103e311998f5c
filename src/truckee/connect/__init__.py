"""DeltaTable over Spark Connect: a client sends calls, and a server of ours makes them.

A client is a process without a JVM, so its `DeltaTable` holds no table, only the calls that lead to
one. The server makes these calls on a table of its own, so that a client can do what a classic
session can, and with the same code.

| module      | what it is                                                              |
|-------------|-------------------------------------------------------------------------|
| `arguments` | arguments of calls as JSON: texts, numbers, columns, frames, types      |
| `requests`  | the JSON of a request, and the relation of Spark Connect that holds it  |
| `client`    | the objects that a client has in place of tables and builders           |
| `server`    | what makes the calls: `truckee.serve`                                   |
"""
