/** Shapes for answers of which no field may be missing in the reference. */

/** The shape without additional properties, because an answer must not have fields that the reference does not list. */
export function withoutOtherFields(shape: unknown): unknown {
  if (Array.isArray(shape)) return shape.map(withoutOtherFields);
  if (typeof shape !== "object" || shape === null) return shape;
  const parts = Object.fromEntries(
    Object.entries(shape).map(([name, part]) => [name, withoutOtherFields(part)]),
  );
  return "properties" in parts ? { additionalProperties: false, ...parts } : parts;
}
