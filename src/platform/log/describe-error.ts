/** Converts errors for the log: message, stack and selected fields, without internals of drivers and sockets. */

const MOST_CAUSES = 5;
const MOST_TEXT = 8_000;

/** Fields of errors of PostgreSQL and Node.js and of ApiErrors; each is a short text or a number. */
const shownFields = [
  "code",
  "severity",
  "detail",
  "hint",
  "where",
  "schema",
  "table",
  "column",
  "constraint",
  "routine",
  "errno",
  "syscall",
  "address",
  "port",
  "path",
  "status",
  "reason",
] as const;

export function describeError(fault: unknown, depth = 0): unknown {
  if (!(fault instanceof Error))
    return typeof fault === "object" && fault !== null ? shorten(shallow(fault)) : fault;
  const fields = fault as Error & Readonly<Record<string, unknown>>;
  const shown = shownFields.flatMap((name): (readonly [string, unknown])[] => {
    const value = fields[name];
    if (typeof value === "string") return value === "" ? [] : [[name, value.slice(0, MOST_TEXT)]];
    return typeof value === "number" ? [[name, value]] : [];
  });
  const { cause } = fault;
  const all = fault instanceof AggregateError ? fault.errors.slice(0, MOST_CAUSES) : undefined;
  return {
    type: fault.name === "Error" ? fault.constructor.name : fault.name,
    message: fault.message.slice(0, MOST_TEXT),
    stack: fault.stack?.slice(0, MOST_TEXT),
    ...Object.fromEntries(shown),
    ...(cause !== undefined && depth < MOST_CAUSES && { cause: describeError(cause, depth + 1) }),
    ...(all && depth < MOST_CAUSES && { errors: all.map((one) => describeError(one, depth + 1)) }),
  };
}

/** The primitive values of a thrown object that is not an Error. */
function shallow(value: object): object {
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => typeof one !== "object" && typeof one !== "function"),
  );
}

function shorten(value: object): unknown {
  const text = JSON.stringify(value);
  return text.length <= MOST_TEXT ? value : `${text.slice(0, MOST_TEXT)}…`;
}
