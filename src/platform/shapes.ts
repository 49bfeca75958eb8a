/** Shapes that many answers share. */
import { type TSchema, type TStringOptions, Type } from "typebox";

export const Id = Type.String({ format: "uuid" });

/** A Date in code, ISO 8601 UTC in JSON. */
export const Timestamp = Type.Unsafe<Date>(Type.String({ format: "date-time" }));

export const nullable = <Shape extends TSchema>(shape: Shape) =>
  // The reference shows the description of the union, not that of its parts.
  Type.Union([shape, Type.Null()], descriptionOf(shape));

/** A field of a request that may be left out or null, which mean the same. */
export const omittable = <Shape extends TSchema>(shape: Shape) => Type.Optional(nullable(shape));

export const NullableTimestamp = nullable(Timestamp);

/** Of what a person did with a mail. */
export const Times = Type.Integer({
  description: "How often, where it came more than once at the same moment.",
});

/** What a text of a pattern is in words, by the pattern: nobody reads a regular expression to mend a request. */
export const patternsInWords = new Map<string, string>();

/** Text of a pattern. @param wanted completes "<field> must be …" */
export function patterned(pattern: string, wanted: string, options: TStringOptions = {}) {
  patternsInWords.set(pattern, wanted);
  return Type.String({ ...options, pattern });
}

/** What a DELETE answers. */
export const Deleted = Type.Object({ id: Id, deleted: Type.Literal(true) }, { $id: "Deleted" });

function descriptionOf(shape: object): { readonly description?: string } {
  return "description" in shape && typeof shape.description === "string"
    ? { description: shape.description }
    : {};
}
