/** The scope in which conditions are bound: the time, and the custom fields and segments of the workspace. */
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { Segmentation } from "./bound-rule.ts";
import type { Moment } from "./operator.ts";

export type FieldDefinition = Pick<CustomField, "field_name" | "field_type" | "field_options">;

export interface BindingScope extends Moment {
  /** The list whose members the conditions apply to. */
  readonly mailingListId: string;
  /** Names of the custom fields in force on that list. */
  readonly fieldNames: readonly string[];
  /** The definition in force on that list. */
  customField(name: string): FieldDefinition | undefined;
  /** A segment of the workspace, bound on its own list; undefined when it was deleted. */
  segment(id: string): Segmentation | undefined;
  /** Whether it is a campaign of the workspace that was not deleted. */
  hasCampaign(id: string): boolean;
}
