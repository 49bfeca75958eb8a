/** The fields of a body that its shape has. Bodies keep unknown fields, which are ignored (unknown-fields.ts). */
import type { TSchema } from "typebox";

interface Shape {
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** The body without unknown fields. A shape without named fields, such as a record, knows every name. */
export function knownFields(shape: TSchema, body: object): Readonly<Record<string, unknown>> {
  const known = namesIn(shape);
  const entries = Object.entries(body);
  return Object.fromEntries(known.size === 0 ? entries : entries.filter(([name]) => known.has(name)));
}

/** Whether the body of a change names no field that it could change: it must change nothing, not even the time of the change. */
export function isEmptyChange(shape: TSchema, body: object): boolean {
  return Object.keys(knownFields(shape, body)).length === 0;
}

function namesIn(shape: Shape): ReadonlySet<string> {
  const branches = shape.anyOf ?? [shape];
  return new Set(
    branches.flatMap((branch) =>
      branch.anyOf === undefined ? Object.keys(branch.properties ?? {}) : [...namesIn(branch)],
    ),
  );
}
