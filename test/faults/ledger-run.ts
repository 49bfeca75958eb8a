/**
 * Runs one seed of the ledger simulation: random operations (ledger-random.ts) on a new workspace, with crashes and
 * concurrent sessions. Each operation runs in the product (ledger-product.ts) and in the model (ledger-model.ts), whose
 * figures are compared afterwards.
 */
import { isDeepStrictEqual } from "node:util";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { modelBooks } from "./ledger-books.ts";
import { apply, type Model, newModel, type Operation } from "./ledger-model.ts";
import { booksOf, insertWorkspace, perform, type Session } from "./ledger-product.ts";
import { advance, beginning, choose, opening } from "./ledger-random.ts";
import { randomFrom } from "./random.ts";

/** A simulated crash happens before one of the first nine statements; a shorter operation completes. */
const MOST_STATEMENTS = 9;

class Crash extends Error {}

/** @throws an error with the difference and the operations that led to it */
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

/** Runs an operation with a crash: it must have happened completely or not at all. */
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

/** A database that throws at the given statement, which rolls back an open transaction. */
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

/** Runs two operations concurrently: the result must be that of one of the two orders. */
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
    throw new Error(
      `the result is that of no order: ${shown({ heard: answers, books })}, expected one of ${shown(expected)}`,
    );
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
