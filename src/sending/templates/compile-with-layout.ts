/** Compiles the content of a template in its layout, and with a layout the templates that it wraps. */
import { listFieldNames } from "#audience/custom-fields/store.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { FieldFault } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { fieldError } from "#sending/mail-fields.ts";
import type { CheckedTemplate, TemplateToCheck } from "./compile/check-template.ts";
import type { ContentCompiler } from "./compile/compile-in-thread.ts";
import { bodyFields, type WrittenBody } from "./compile/content-source.ts";
import { type TemplateContent, type TemplateSettings, writtenBody } from "./read-template-body.ts";
import { findTemplate, listTemplatesInLayout, type StoredTemplate } from "./store.ts";

export type CompiledTemplate = Extract<CheckedTemplate, { ok: true }>;

/**
 * Compiles content, and of a layout also the templates in it.
 * @param current the template as it is stored; undefined for a new one
 * @returns also the layout that it was compiled in, null for none, and the templates that the layout wraps
 * @throws ApiError VALIDATION_ERROR, and those of ContentCompiler
 */
export async function compileWithLayout(
  { db, compiler }: { readonly db: Database; readonly compiler: ContentCompiler },
  { workspaceId, timezone }: Pick<Caller, "workspaceId" | "timezone">,
  { kind, test_data, content }: TemplateSettings,
  current?: StoredTemplate,
): Promise<{
  readonly layout: StoredTemplate | null;
  readonly compiled: CompiledTemplate;
  readonly wrapped: readonly { readonly template: StoredTemplate; readonly compiled: CompiledTemplate }[];
}> {
  const layout = content.layout_id === null ? null : await requireLayout(db, workspaceId, content.layout_id);
  const inIt =
    kind === "layout" && current !== undefined
      ? await listTemplatesInLayout(db, workspaceId, current.id)
      : [];
  const fields = await listFieldNames(db, workspaceId);
  const toCheck = (
    { subject, preheader, text_content, body }: TemplateContent,
    data: object,
    around: WrittenBody | null,
  ): TemplateToCheck => ({
    source: {
      body,
      preheader,
      layout: around,
      isLayout: kind === "layout" && around === null,
    },
    subject,
    text_content,
    fields: [...fields, ...Object.keys(data)],
    timezone,
  });
  const explain = (fault: FieldFault, place: number): FieldFault => {
    const template = inIt[place - 1];
    if (template === undefined) return fault;
    const field = bodyFields[content.body.format];
    return {
      field,
      message: `${field}: the template "${template.name}" does not fit this layout: ${fault.message}`,
    };
  };
  const [compiled, ...others] = await compiler.check(
    workspaceId,
    [
      toCheck(content, test_data, layout && writtenBody(layout)),
      ...inIt.map((template) => toCheck(contentOf(template), template.test_data, content.body)),
    ],
    explain,
  );
  if (compiled === undefined) throw new Error("nothing was compiled");
  const wrapped = inIt.flatMap((template, place) => {
    const one = others[place];
    return one === undefined ? [] : { template, compiled: one };
  });
  return { layout, compiled, wrapped };
}

/** @throws ApiError VALIDATION_ERROR */
export async function requireLayout(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<StoredTemplate> {
  const layout = await findTemplate(db, workspaceId, id);
  if (layout?.kind === "layout") return layout;
  throw fieldError("layout_id", layout === undefined ? "is no template of this workspace" : "is no layout");
}

/** What the author gave of a stored template. */
export function contentOf(template: StoredTemplate): TemplateContent {
  const { subject, preheader, text_content, layout_id } = template;
  return { subject, preheader, body: writtenBody(template), text_content, layout_id };
}
