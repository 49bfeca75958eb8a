/** What is logged of a fault: what it says and where it was thrown, and nothing of the driver's or the socket's insides. */

const MOST_CAUSES = 5;
const MOST_TEXT = 8_000;

/** Of PostgreSQL, Node.js and ApiError: each is a short text or a number. */
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

export function describeFault(fault: unknown, depth = 0): unknown {
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
    ...(cause !== undefined && depth < MOST_CAUSES && { cause: describeFault(cause, depth + 1) }),
    ...(all && depth < MOST_CAUSES && { errors: all.map((one) => describeFault(one, depth + 1)) }),
  };
}

/** What was thrown and is no Error: its own plain values. */
function shallow(value: object): object {
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => typeof one !== "object" && typeof one !== "function"),
  );
}

function shorten(value: object): unknown {
  const text = JSON.stringify(value);
  return text.length <= MOST_TEXT ? value : `${text.slice(0, MOST_TEXT)}…`;
}
