import { expect, test } from "vitest";
import { readDatabaseAddress, serverName } from "./database-address.ts";

const namesOf = (url: string) => readDatabaseAddress(url).servers.map(serverName);

test.each([
  ["postgres://u:p@db1:5433,db2/mail?target_session_attrs=read-write", ["db1:5433", "db2:5432"]],
  ["postgresql://[2001:db8::1]:5433,[2001:db8::2]/mail", ["[2001:db8::1]:5433", "[2001:db8::2]:5432"]],
  ["postgres://u:p@ss,word@db1,db2/mail", ["db1:5432", "db2:5432"]],
  ["postgres://u@%2Frun%2Fpostgresql:5433/mail", ["/run/postgresql:5433"]],
  ["postgres:///mail?host=/run/a,/run/b&port=5433,5434", ["/run/a:5433", "/run/b:5434"]],
  ["postgres:///mail?host=db1,db2&port=5433", ["db1:5433", "db2:5433"]],
])("%s has the servers %j", (url, servers) => {
  expect(namesOf(url)).toEqual(servers);
});

test("several servers mean the primary; one is taken as it is unless the URL says otherwise", () => {
  const mustWrite = (url: string) => readDatabaseAddress(url).mustWrite;
  expect(mustWrite("postgres://db1,db2/mail")).toBe(true);
  expect(mustWrite("postgres://db1/mail?target_session_attrs=primary")).toBe(true);
  expect(mustWrite("postgres://db1/mail")).toBe(false);
});

test("a URL with one server reaches the driver unchanged; of several the first does, with the options of TLS", () => {
  const one = "postgres://u:p%40@db1/mail?sslmode=verify-full";
  expect(readDatabaseAddress(one).connectionString).toBe(one);
  const several = "postgres://u:p%40@db1,db2:1/mail?target_session_attrs=read-write&sslmode=verify-full";
  expect(readDatabaseAddress(several).connectionString).toBe(one);
});

test.each([
  ["mysql://db1/mail", /must be a URL beginning with postgres:\/\/ or postgresql:\/\//],
  ["postgres://db1,db2:99999/mail", /must have ports from 1 to 65535/],
  ["postgres://db1,db2:x/mail", /"db2:x" is none/],
  ["postgres://db1,[::1/mail", /"\[::1" is none/],
  ["postgres://db1,%zz/mail", /"%zz" is none/],
  ["postgres:///mail?host=a,b&port=1,2,3", /one port, or as many ports as hosts/],
  ["postgres://db1,db2/mail?target_session_attrs=standby", /must have read-write, primary or any/],
])("%s is refused with a sentence that says why", (url, message) => {
  expect(() => readDatabaseAddress(url)).toThrow(message);
});
