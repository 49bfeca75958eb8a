/**
 * Creates and changes templates. Content is compiled before the transaction that stores it. If the template or its layout
 * was changed meanwhile, everything is done again with what is stored now.
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { changedMeanwhile, etagOf } from "#sending/revision.ts";
import { type StorageDeps, withinBytes } from "#workspace/billing/storage-limit.ts";
import { copyName } from "#workspace/read-display-name.ts";
import type { ContentCompiler } from "./compile/compile-in-thread.ts";
import { type CompiledTemplate, compileWithLayout, contentOf } from "./compile-with-layout.ts";
import {
  namesBody,
  readTemplateBody,
  readTemplateChange,
  type TemplateContent,
  type TemplateSettings,
  writtenBody,
} from "./read-template-body.ts";
import {
  advanceVersions,
  countTemplatesInLayout,
  findTemplate,
  insertTemplate,
  lockLayout,
  lockTemplates,
  removeTemplate,
  type StoredTemplate,
  templateRoom,
  updateTemplate,
} from "./store.ts";
import type { NewTemplate, TemplateChange, VersionCause } from "./template.ts";
import { findVersion, insertVersions, type NewVersion } from "./versions-store.ts";

export interface TemplateDeps extends StorageDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly compiler: ContentCompiler;
}

/** A change of a layout compiles all templates in it, so they are few. */
const MOST_IN_LAYOUT = 50;
/** Attempts to save what other requests change at the same time. */
const MOST_ATTEMPTS = 5;

/** Whether the caller may have seen the template with this ETag. */
type MayBe = (etag: string) => boolean;

type SavingCaller = Pick<Caller, "workspaceId" | "timezone" | "actor">;

/** @throws ApiError NOT_FOUND */
export async function requireTemplate(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  without?: "content",
): Promise<StoredTemplate> {
  return required(await findTemplate(db, workspaceId, id, without), "Template");
}

/** @throws ApiError VALIDATION_ERROR, BAD_REQUEST at the maximum number of templates, PLAN_LIMIT_REACHED */
export function createTemplate(
  deps: TemplateDeps,
  caller: SavingCaller,
  body: NewTemplate,
): Promise<StoredTemplate> {
  return insertNew(deps, caller, readTemplateBody(body));
}

/** A new template with the present content of another one. */
export async function duplicateTemplate(
  deps: TemplateDeps,
  caller: SavingCaller,
  id: string,
): Promise<StoredTemplate> {
  const original = await requireTemplate(deps.db, caller.workspaceId, id);
  return insertNew(deps, caller, { ...readTemplateChange(original, {}), name: copyName(original.name) });
}

async function insertNew(
  deps: TemplateDeps,
  caller: SavingCaller,
  settings: TemplateSettings,
): Promise<StoredTemplate> {
  const { db, clock } = deps;
  const { workspaceId } = caller;
  const id = newId();
  await untilSaved(async () => {
    const { layout, compiled } = await compileWithLayout(deps, caller, settings);
    return db.transaction(async (tx) => {
      if (layout !== null && !(await isLayoutSame(tx, workspaceId, layout, true))) return false;
      await requireBelowRowLimit(tx, workspaceId, templateRoom);
      await withinBytes(deps, tx, workspaceId, async () => {
        const { kind, name, test_data, content } = settings;
        const now = clock.now();
        await insertTemplate(
          tx,
          workspaceId,
          { id, kind, name, test_data, layout_id: content.layout_id },
          now,
        );
        const place = { template_id: id, version: 1, cause: "created" } as const;
        await insertVersions(tx, workspaceId, [versionOf(place, caller, content, compiled, now)]);
      });
      return true;
    });
  });
  return requireTemplate(db, workspaceId, id);
}

/**
 * Changes the fields that the body has. New content is a new version.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, VALIDATION_ERROR, PLAN_LIMIT_REACHED
 */
export async function changeTemplate(
  deps: TemplateDeps,
  caller: SavingCaller,
  { id, body, mayBe }: { readonly id: string; readonly body: TemplateChange; readonly mayBe: MayBe },
): Promise<void> {
  await untilSaved(async () => {
    const current = await requireTemplate(deps.db, caller.workspaceId, id);
    if (!mayBe(etagOf(current))) throw changedMeanwhile("template", current);
    const settings = readTemplateChange(current, body);
    return save(deps, caller, current, settings, { cause: "changed", isResaved: namesBody(body) });
  });
}

/**
 * Makes the content of an older version the present one, as a new version.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, BAD_REQUEST if the layout of the version was deleted, VALIDATION_ERROR
 */
export async function restoreVersion(
  deps: TemplateDeps,
  caller: SavingCaller,
  { id, versionId, mayBe }: { readonly id: string; readonly versionId: string; readonly mayBe: MayBe },
): Promise<void> {
  const { workspaceId } = caller;
  await untilSaved(async () => {
    const current = await requireTemplate(deps.db, workspaceId, id);
    const version = required(await findVersion(deps.db, workspaceId, id, versionId), "Version");
    if (!mayBe(etagOf(current))) throw changedMeanwhile("template", current);
    const { kind, name, test_data } = current;
    const { subject, preheader, text_content, layout_id } = version;
    if (
      layout_id !== null &&
      (await findTemplate(deps.db, workspaceId, layout_id, "content")) === undefined
    ) {
      throw new ApiError(
        "BAD_REQUEST",
        `The layout of version ${version.version} was deleted: give the template its content with PATCH, and another layout or none`,
      );
    }
    const content = { subject, preheader, text_content, layout_id, body: writtenBody(version) };
    const settings = { kind, name, test_data, content };
    return save(deps, caller, current, settings, { cause: "restored", isResaved: true });
  });
}

/**
 * False when another request was faster.
 * @param isResaved whether the caller gave the body, even the same one: then it gets the brand of now
 */
async function save(
  deps: TemplateDeps,
  caller: SavingCaller,
  current: StoredTemplate,
  settings: TemplateSettings,
  { cause, isResaved }: { readonly cause: VersionCause; readonly isResaved: boolean },
): Promise<boolean> {
  const { name, test_data, content } = settings;
  const hasNewContent = !isDeepStrictEqual(content, contentOf(current));
  const mayLookNew = isResaved && content.body.format !== "html";
  const compilation =
    hasNewContent || mayLookNew ? await compileWithLayout(deps, caller, settings, current) : unchanged;
  const isNewVersion = hasNewContent || looksNew(compilation, current);
  if (!isNewVersion && name === current.name && isDeepStrictEqual(test_data, current.test_data)) return true;
  const { workspaceId } = caller;
  const { layout, compiled, wrapped } = isNewVersion ? compilation : unchanged;
  return deps.db.transaction(async (tx) => {
    // Layouts are locked before the templates in them, by every request.
    const isNewToLayout = layout?.id !== current.layout_id;
    if (layout !== null && !(await isLayoutSame(tx, workspaceId, layout, isNewToLayout))) return false;
    if (!(await areSame(tx, workspaceId, [current]))) return false;
    const now = deps.clock.now();
    const version = compiled === null ? current.version : current.version + 1;
    const changed = { id: current.id, name, test_data, version, layout_id: content.layout_id };
    if (compiled === null) {
      await updateTemplate(tx, workspaceId, changed, now);
      return true;
    }
    if (
      wrapped.length > 0 &&
      !(await areSame(
        tx,
        workspaceId,
        wrapped.map(({ template }) => template),
      ))
    )
      return false;
    if (
      current.kind === "layout" &&
      (await countTemplatesInLayout(tx, workspaceId, current.id)) !== wrapped.length
    ) {
      return false;
    }
    const own = versionOf({ template_id: current.id, version, cause }, caller, content, compiled, now);
    const others = wrapped.map(({ template, compiled }) => {
      const place = {
        template_id: template.id,
        version: template.version + 1,
        cause: "layout_changed",
      } as const;
      return versionOf(place, caller, contentOf(template), compiled, now);
    });
    await withinBytes(deps, tx, workspaceId, () => insertVersions(tx, workspaceId, [own, ...others]));
    await updateTemplate(tx, workspaceId, changed, now);
    await advanceVersions(
      tx,
      workspaceId,
      wrapped.map(({ template }) => template.id),
      now,
    );
    return true;
  });
}

type Compilation =
  | Awaited<ReturnType<typeof compileWithLayout>>
  | { readonly layout: null; readonly compiled: null; readonly wrapped: readonly [] };

const unchanged = { layout: null, compiled: null, wrapped: [] } as const;

/** Whether a mail looks otherwise than it did: the brand that its design shows was changed. */
function looksNew({ compiled, wrapped }: Compilation, { compiled_html }: StoredTemplate): boolean {
  if (compiled === null) return false;
  return (
    compiled.html !== compiled_html ||
    wrapped.some(({ template, compiled: { html } }) => html !== template.compiled_html)
  );
}

/**
 * Locks the layout of a template, if it is still at its version.
 * @param isNew whether the template comes into the layout now
 * @throws ApiError BAD_REQUEST for too many templates in it
 */
async function isLayoutSame(
  tx: Queryable,
  workspaceId: WorkspaceId,
  layout: StoredTemplate,
  isNew: boolean,
): Promise<boolean> {
  if ((await lockLayout(tx, workspaceId, layout.id, isNew)) !== layout.version) return false;
  if (!isNew) return true;
  if ((await countTemplatesInLayout(tx, workspaceId, layout.id)) < MOST_IN_LAYOUT) return true;
  throw new ApiError(
    "BAD_REQUEST",
    `The layout "${layout.name}" wraps ${MOST_IN_LAYOUT} templates, the most that are possible: duplicate it`,
  );
}

async function areSame(
  tx: Queryable,
  workspaceId: WorkspaceId,
  known: readonly StoredTemplate[],
): Promise<boolean> {
  const ids = known.map(({ id }) => id);
  const revisions = await lockTemplates(tx, workspaceId, ids);
  return known.every(({ id, revision }) => revisions.get(id) === revision);
}

function versionOf(
  place: Pick<NewVersion, "template_id" | "version" | "cause">,
  { actor }: SavingCaller,
  { body, ...content }: TemplateContent,
  { html, warnings }: CompiledTemplate,
  now: Date,
): NewVersion {
  return {
    ...place,
    ...content,
    id: newId(),
    format: body.format,
    html_content: body.format === "html" ? body.html : null,
    mjml: body.format === "mjml" ? body.mjml : null,
    design: body.format === "design" ? body.design : null,
    compiled_html: html,
    warnings: [...warnings],
    created_by: actor.name,
    created_at: now,
  };
}

/** @throws ApiError NOT_FOUND, PRECONDITION_FAILED, CONFLICT for a layout with templates in it */
export async function deleteTemplate(
  { db }: TemplateDeps,
  workspaceId: WorkspaceId,
  id: string,
  mayBe: MayBe,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockTemplates(tx, workspaceId, [id]);
    const template = await requireTemplate(tx, workspaceId, id, "content");
    if (!mayBe(etagOf(template))) {
      throw changedMeanwhile("template", await requireTemplate(tx, workspaceId, id));
    }
    const total = await countTemplatesInLayout(tx, workspaceId, id);
    if (total > 0) {
      const noun = total === 1 ? "template uses" : "templates use";
      throw new ApiError(
        "CONFLICT",
        `${total} ${noun} the layout "${template.name}": give them another layout, or none, first`,
      );
    }
    await removeTemplate(tx, workspaceId, id);
  });
}

async function untilSaved(attempt: () => Promise<boolean>): Promise<void> {
  for (let made = 0; made < MOST_ATTEMPTS; made += 1) if (await attempt()) return;
  throw new ApiError("CONFLICT", "Other requests keep changing the template: send this one again");
}
