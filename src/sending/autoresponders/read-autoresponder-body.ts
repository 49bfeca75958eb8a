/** Reads and checks the body of POST and PUT. What is stored can be sent. */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import type { MailingList } from "#audience/mailing-lists/mailing-list.ts";
import { findMailingList } from "#audience/mailing-lists/store.ts";
import type { TemplateLink } from "#mail/merge-tags/tracked-links.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { compileForWorkspace } from "#sending/content/compile-for-workspace.ts";
import { tracksOf } from "#sending/content/resolve-tracking-setting.ts";
import {
  fieldError,
  readBody,
  readDesignSize,
  readFromEmail,
  readMailAddress,
  readSubject,
} from "#sending/mail-fields.ts";
import { type ContentDeps, takeContent } from "#sending/templates/take-content.ts";
import { readName } from "#workspace/read-display-name.ts";
import { readFromName } from "#workspace/read-from-name.ts";
import type {
  Autoresponder,
  AutoresponderStep,
  NewAutoresponder,
  NewStep,
  Trigger,
} from "./autoresponder.ts";
import { minutesOf } from "./delay.ts";

/** The columns that the author sets. */
export interface AutoresponderSettings
  extends Pick<
    Autoresponder,
    | "name"
    | "mailing_list_id"
    | "from_email"
    | "from_name"
    | "reply_to"
    | "enable_open_tracking"
    | "enable_click_tracking"
  > {
  readonly trigger_type: Trigger["type"];
  readonly date_field: string | null;
  readonly is_yearly: boolean;
  readonly at: string | null;
}

/** The content of a step, with the results of compiling it. */
export interface StepContent extends Omit<AutoresponderStep, "id" | "delay"> {
  readonly tracks_opens: boolean;
  readonly tracks_clicks: boolean;
  readonly links: readonly TemplateLink[];
}

export interface ReadStep {
  /** The id in the request; null without one. */
  readonly id: string | null;
  readonly delayMinutes: number;
  readonly content: StepContent;
}

const DEFAULT_TIME = "09:00";

/**
 * @param present the steps before they are replaced; empty for a new autoresponder
 * @throws ApiError VALIDATION_ERROR naming the field
 */
export async function readAutoresponder(
  deps: ContentDeps,
  caller: Caller,
  body: NewAutoresponder,
  present: Autoresponder["steps"] = [],
): Promise<{ readonly settings: AutoresponderSettings; readonly steps: readonly ReadStep[] }> {
  const { db } = deps;
  const { workspaceId } = caller;
  const list = await findMailingList(db, workspaceId, body.mailing_list_id);
  if (list === undefined) throw fieldError("mailing_list_id", "is no mailing list of this workspace");
  const settings: AutoresponderSettings = {
    name: readName(body.name),
    mailing_list_id: list.id,
    from_email: await readFromEmail(db, workspaceId, body.from_email),
    from_name: readFromName(body.from_name),
    reply_to: readMailAddress("reply_to", body.reply_to),
    enable_open_tracking: body.enable_open_tracking ?? null,
    enable_click_tracking: body.enable_click_tracking ?? null,
    ...(await readTrigger(db, workspaceId, list.id, body.trigger)),
  };
  const given = body.steps.flatMap(({ id }) => id ?? []);
  if (new Set(given).size < given.length) throw fieldError("steps", "must not have the same id twice");
  const steps: ReadStep[] = [];
  for (const [at, step] of body.steps.entries()) {
    const before = present.find(({ id }) => id === step.id) ?? null;
    steps.push(await readStep(deps, { caller, list, settings, present: before }, step, `steps[${at}]`));
  }
  return { settings, steps };
}

async function readTrigger(
  db: Queryable,
  workspaceId: WorkspaceId,
  listId: string,
  { type, field, yearly, at }: Trigger,
): Promise<Pick<AutoresponderSettings, "trigger_type" | "date_field" | "is_yearly" | "at">> {
  if (type === "subscribed") {
    for (const [name, value] of Object.entries({ field, yearly, at })) {
      if (value !== undefined) throw fieldError(`trigger.${name}`, "is for the trigger date only");
    }
    return { trigger_type: type, date_field: null, is_yearly: false, at: null };
  }
  if (field === undefined) throw fieldError("trigger.field", "is required for the trigger date");
  if (!isDateField(await listFieldsInForce(db, workspaceId, listId), field)) {
    throw fieldError("trigger.field", `${field} is no custom field of the type date that the list has`);
  }
  return { trigger_type: type, date_field: field, is_yearly: yearly ?? false, at: at ?? DEFAULT_TIME };
}

/** Whether one of the fields has this name and the type date. */
export function isDateField(
  fields: readonly Pick<CustomField, "field_name" | "field_type">[],
  field: string,
): boolean {
  return fields.some(({ field_name, field_type }) => field_name === field && field_type === "date");
}

async function readStep(
  deps: ContentDeps,
  place: {
    readonly caller: Caller;
    readonly list: MailingList;
    readonly settings: AutoresponderSettings;
    readonly present: AutoresponderStep | null;
  },
  given: NewStep,
  field: string,
): Promise<ReadStep> {
  const { db } = deps;
  const { caller, list, settings, present } = place;
  const { workspaceId, timezone } = caller;
  const delayMinutes = minutesOf(given.delay ?? {}, `${field}.delay`);
  // An omitted field has its default, and not that of the step before.
  const whole = { ...given, template_id: given.template_id ?? null };
  const step = await takeContent(deps, caller, whole, present).catch((fault: unknown) => {
    throw inStep(fault, field);
  });
  if (step.subject === undefined) throw fieldError(`${field}.subject`, "is required");
  const written = {
    subject: readSubject(step.subject, `${field}.subject`),
    html_content: readBody(step.html_content),
    text_content: readBody(step.text_content),
    mjml: readBody(step.mjml),
    design: step.design == null ? null : readDesignSize(step.design),
    template_id: step.template_id ?? null,
    template_version: step.template_version ?? null,
    ...tracksOf(settings, list),
  };
  const compiled = await compileForWorkspace(
    db,
    workspaceId,
    { ...written, message_type: "email" },
    { listId: list.id, timezone },
  );
  if (!compiled.ok) {
    const [first, ...rest] = compiled.faults;
    throw first === undefined ? fieldError(field, "cannot be sent") : inStep(invalid(first, ...rest), field);
  }
  return {
    id: step.id ?? null,
    delayMinutes,
    content: { ...written, warnings: [...compiled.warnings], links: compiled.content.facts.links },
  };
}

/** An error about fields, as one about the fields of a step. */
function inStep(fault: unknown, step: string): unknown {
  if (!(fault instanceof ApiError) || fault.details === undefined) return fault;
  const [first, ...rest] = fault.details.map(({ field, message }) => ({
    field: `${step}.${field}`,
    message: `${step}.${message}`,
  }));
  return first === undefined ? fault : invalid(first, ...rest);
}
