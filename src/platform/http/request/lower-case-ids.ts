/** Converts UUIDs in bodies to lower case, as in the database: requests may write them in any case (RFC 9562 section 4). */
import type { TSchema } from "typebox";

/** Converts the ids of a value in place, and calls `onChange` for each one that changes. */
type Respell = (value: unknown, onChange: () => void) => unknown;

interface Shape {
  readonly format?: string;
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
}

/** A converter for values that match the shape; undefined for a shape without ids. */
export function idSpeller(shape: TSchema): Respell | undefined {
  return spellerOf(shape);
}

function spellerOf({ format, anyOf, items, properties }: Shape): Respell | undefined {
  if (format === "uuid") return spellId;
  if (anyOf !== undefined) return anyBranch(anyOf);
  if (items !== undefined) return everyItem(items);
  return properties && namedFields(properties);
}

function spellId(value: unknown, onChange: () => void): unknown {
  if (typeof value !== "string") return value;
  const spelled = value.toLowerCase();
  if (spelled !== value) onChange();
  return spelled;
}

/** Applies the converters of all branches of a union; each ignores values of other branches. */
function anyBranch(branches: readonly Shape[]): Respell | undefined {
  const spellers = branches.flatMap((branch) => spellerOf(branch) ?? []);
  if (spellers.length === 0) return undefined;
  return (value, onChange) => spellers.reduce((spelled, respell) => respell(spelled, onChange), value);
}

function everyItem(items: Shape): Respell | undefined {
  const respell = spellerOf(items);
  if (respell === undefined) return undefined;
  return (value, onChange) => {
    if (Array.isArray(value)) for (const [at, item] of value.entries()) value[at] = respell(item, onChange);
    return value;
  };
}

function namedFields(properties: Readonly<Record<string, Shape>>): Respell | undefined {
  const fields = Object.entries(properties).flatMap(([name, shape]) => {
    const respell = spellerOf(shape);
    return respell === undefined ? [] : [{ name, respell }];
  });
  if (fields.length === 0) return undefined;
  return (value, onChange) => {
    if (isObject(value)) {
      for (const { name, respell } of fields) {
        if (Object.hasOwn(value, name)) value[name] = respell(value[name], onChange);
      }
    }
    return value;
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
