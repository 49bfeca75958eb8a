/**
 * One seed of the ledger simulation: operations by chance (ledger-chance.ts) on a workspace of its own, with crashes and
 * with two sessions at once, each done to the product (ledger-product.ts) and to the model (ledger-model.ts), whose books
 * are compared then.
 */
import { isDeepStrictEqual } from "node:util";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { modelBooks } from "./ledger-books.ts";
import { advance, beginning, choose, opening } from "./ledger-chance.ts";
import { apply, type Model, newModel, type Operation } from "./ledger-model.ts";
import { booksOf, insertWorkspace, perform, type Session } from "./ledger-product.ts";
import { randomFrom } from "./random.ts";

/** A transaction that is to crash does so before one of its first statements, or not at all. */
const MOST_STATEMENTS = 9;

class Crash extends Error {}

/** @throws an error that says what differed, and after which operations */
export async function runLedgerSeed(db: Database, seed: number, steps: number): Promise<void> {
  const random = randomFrom(seed);
  const workspaceId = await insertWorkspace(db);
  let model = newModel();
  let now = beginning(random);
  const story: string[] = [];
  try {
    for (const operation of opening(random)) {
      story.push(`${now.toISOString()} ${told(operation)}`);
      const answer = await perform({ db, workspaceId, now }, operation);
      agree(apply(model, operation, now.getTime()), answer, "the answer");
    }
    for (let step = 0; step < steps; step++) {
      now = advance(model, now, random);
      const session = { db, workspaceId, now };
      const operation = choose(model, random);
      const kind = random.between(1, 10);
      if (kind === 1) {
        const statement = random.between(1, MOST_STATEMENTS);
        story.push(`${now.toISOString()} crash at ${statement}: ${told(operation)}`);
        model = await crash(session, model, operation, statement);
      } else if (kind <= 3) {
        const other = choose({ ...model, outstanding: model.outstanding - givenBack(operation) }, random);
        story.push(`${now.toISOString()} at once: ${told(operation)} and ${told(other)}`);
        model = await atOnce(session, model, [operation, other]);
      } else {
        story.push(`${now.toISOString()} ${told(operation)}`);
        agree(apply(model, operation, now.getTime()), await perform(session, operation), "the answer");
      }
      agree(modelBooks(model, now), await booksOf(session), "the books");
    }
  } catch (fault) {
    const said = fault instanceof Error ? fault.message : String(fault);
    throw new Error(`seed ${seed}: ${said}\n${story.join("\n")}`, { cause: fault });
  }
}

function givenBack(operation: Operation): number {
  return operation.name === "giveBack" ? operation.quantity : 0;
}

function told({ name, ...rest }: Operation): string {
  return `${name} ${JSON.stringify(rest)}`;
}

/** All of it has happened, or nothing. */
async function crash(
  session: Session,
  model: Model,
  operation: Operation,
  statement: number,
): Promise<Model> {
  try {
    const answer = await perform({ ...session, db: crashing(session.db, statement) }, operation);
    agree(apply(model, operation, session.now.getTime()), answer, "the answer");
  } catch (fault) {
    if (!(fault instanceof Crash)) throw fault;
  }
  return model;
}

/** The database, until the given statement: what is open then is rolled back. */
function crashing(db: Database, statement: number): Database {
  let left = statement;
  const counted = (of: Queryable): Queryable => {
    const step = async <Result>(run: () => Promise<Result>): Promise<Result> => {
      left -= 1;
      if (left <= 0) throw new Crash();
      return run();
    };
    return {
      rows: (text, name) => step(() => of.rows(text, name)),
      row: (text) => step(() => of.row(text)),
      run: (text) => step(() => of.run(text)),
    };
  };
  return {
    ...db,
    ...counted(db),
    transaction: (work) => db.transaction((tx) => work({ ...tx, ...counted(tx) })),
  };
}

/** Two sessions: it is as if one had come after the other. */
async function atOnce(session: Session, model: Model, both: readonly [Operation, Operation]): Promise<Model> {
  const answers = await Promise.all(both.map((operation) => perform(session, operation)));
  const books = await booksOf(session);
  const orders = [
    [0, 1],
    [1, 0],
  ] as const;
  const outcomes = orders.map((order) => {
    const tried = structuredClone(model);
    const heard = ["", ""];
    for (const at of order) heard[at] = apply(tried, both[at], session.now.getTime());
    return { tried, heard, books: modelBooks(tried, session.now) };
  });
  const fitting = outcomes.find(
    ({ heard, books: expected }) => isDeepStrictEqual(heard, answers) && isDeepStrictEqual(expected, books),
  );
  if (fitting === undefined) {
    const expected = outcomes.map((outcome) => ({ heard: outcome.heard, books: outcome.books }));
    throw new Error(`no order explains ${shown({ heard: answers, books })}, but ${shown(expected)}`);
  }
  return fitting.tried;
}

function agree(expected: unknown, actual: unknown, what: string): void {
  if (!isDeepStrictEqual(expected, actual)) {
    throw new Error(`${what}: ${shown(actual)} instead of ${shown(expected)}`);
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value);
}
