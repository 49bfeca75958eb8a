/** The person as whom a mail is rendered: a subscriber, or a sample with a value for every custom field. */
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { listFields, listFieldsInForce } from "#audience/custom-fields/store.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import { findAudience, lookAt } from "#sending/campaigns/audience/find-audience.ts";
import { choosePeople } from "#sending/campaigns/audience/recipients-store.ts";
import type { AudienceOf } from "#sending/campaigns/audience-segments.ts";
import { sampleValues } from "#sending/content/render.ts";
import { findSubscriberValues } from "./find-sent-mail-store.ts";
import type { PersonalValues } from "./web-view-values.ts";

/** How long the first person of an audience is searched for; conditions may be costly. */
const MOST_SEARCH_MS = 2_000;

export interface ChosenPerson extends PersonalValues {
  /** Null for the sample. */
  readonly subscriberId: string | null;
}

/** The subscriber with this id; undefined if there is none. */
export async function subscriberAs(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<ChosenPerson | undefined> {
  const person = await findSubscriberValues(db, workspaceId, id);
  return person && { ...person, custom_fields: person.custom_fields ?? {}, subscriberId: id };
}

/** The first person of an audience in the order of ids; undefined if there is none, or none is found in time. */
export async function firstOfAudience(
  db: Database,
  workspaceId: WorkspaceId,
  audience: AudienceOf,
  now: Date,
): Promise<ChosenPerson | undefined> {
  try {
    const { to: id } = await lookAt(db, workspaceId, audience, MOST_SEARCH_MS, async (tx) => {
      const found = await findAudience(tx, workspaceId, audience, now);
      return found === undefined ? { to: null } : choosePeople(tx, found.people, { after: nilId, size: 1 });
    });
    return id === null ? undefined : await subscriberAs(db, workspaceId, id);
  } catch (fault) {
    if (fault instanceof ApiError) return undefined;
    throw fault;
  }
}

/** A made-up person, with a value for every custom field of the list, or of the workspace when it is null. */
export async function samplePerson(
  db: Queryable,
  workspaceId: WorkspaceId,
  listId: string | null,
  now: Date,
): Promise<ChosenPerson> {
  const fields = await (listId === null
    ? listFields(db, workspaceId, null)
    : listFieldsInForce(db, workspaceId, listId));
  const { email, first_name, last_name } = sampleValues;
  const values = fields.map((field) => [field.field_name, sampleOf(field, now)]);
  return { email, first_name, last_name, custom_fields: Object.fromEntries(values), subscriberId: null };
}

/** A value as people of the list might have it. */
function sampleOf(
  { field_type, field_label, field_options, default_value }: CustomField,
  now: Date,
): unknown {
  if (default_value !== null && default_value !== undefined) return default_value;
  const choices = (field_options ?? []).map((option) => (typeof option === "string" ? option : option.value));
  const day = now.toISOString().slice(0, 10);
  const samples: Record<CustomField["field_type"], unknown> = {
    text: field_label,
    textarea: field_label,
    number: 42,
    date: day,
    boolean: true,
    email: sampleValues.email,
    url: "https://example.com/",
    select: choices[0],
    multiselect: choices.slice(0, 2),
  };
  return samples[field_type] ?? null;
}
