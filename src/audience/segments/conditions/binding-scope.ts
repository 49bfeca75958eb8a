/** What conditions are bound in: the moment, and what the workspace has by the names and ids that they use. */
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { Moment } from "./operator.ts";
import type { Segmentation } from "./rule.ts";

export type FieldDefinition = Pick<CustomField, "field_name" | "field_type" | "field_options">;

export interface BindingScope extends Moment {
  /** The list whose members are asked about. */
  readonly mailingListId: string;
  /** Custom fields that are defined on that list. */
  readonly fieldNames: readonly string[];
  /** The definition that holds on that list. */
  customField(name: string): FieldDefinition | undefined;
  /** A segment of the workspace, bound on its own list; undefined when it has gone. */
  segment(id: string): Segmentation | undefined;
}
