/** Bodies against their shapes, with faults that name the field and say what is wanted. */
import type { Static, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { ApiError, type FieldFault } from "../errors.ts";

/** Faults listed in one answer; more help nobody. */
const MOST_FAULTS = 10;

/** Compiles a shape once; the returned function gives the value back typed, or throws VALIDATION_ERROR. */
export function bodyReader<Shape extends TSchema>(shape: Shape): (value: unknown) => Static<Shape> {
  // Compiled at the first request, not at start: a hundred shapes would cost the start a hundred milliseconds.
  let validator: Validator | undefined;
  return (value) => {
    validator ??= Compile(shape);
    if (validator.Check(value)) return value as Static<Shape>;
    if (value === undefined) throw new ApiError("VALIDATION_ERROR", "Send a JSON object as the request body");
    const [first, ...rest] = faultsOf(validator, value);
    throw new ApiError("VALIDATION_ERROR", [first, ...rest].map((fault) => fault?.message).join("; "), {
      details: first ? [first, ...rest] : [],
    });
  };
}

function faultsOf(validator: Validator, value: unknown): FieldFault[] {
  const faults = new Map<string, FieldFault>();
  for (const error of validator.Errors(value)) {
    for (const fault of faultsOfError(error)) {
      if (faults.size < MOST_FAULTS && !faults.has(fault.field)) faults.set(fault.field, fault);
    }
  }
  return [...faults.values()];
}

type ShapeError = ReturnType<Validator["Errors"]>[number];

function faultsOfError(error: ShapeError): FieldFault[] {
  const path = fieldName(error.instancePath);
  if (error.keyword === "required") {
    return error.params.requiredProperties.map((name) => {
      const field = path === "body" ? name : `${path}.${name}`;
      return { field, message: `${field} is required` };
    });
  }
  return [{ field: path, message: `${path} ${error.message}` }];
}

/** A JSON pointer as people write it: `/attachments/0/content` is `attachments[0].content`. */
function fieldName(pointer: string): string {
  const steps = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return (
    steps.reduce(
      (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path ? `${path}.${step}` : step),
      "",
    ) || "body"
  );
}
