/**
 * Completes the content of a request: html_content is made from MJML or a design, or taken over from a template. What is taken
 * over is a copy, so that a later change of the template changes no mail that was made from it.
 */
import { isDeepStrictEqual } from "node:util";
import { withPreview } from "#mail/mjml/join-mjml.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf } from "#platform/http/endpoint.ts";
import { isDesign } from "#sending/designs/read-design.ts";
import { fieldError, readBody, readDesignSize } from "#sending/mail-fields.ts";
import type { ContentCompiler } from "./compile/compile-in-thread.ts";
import type { ContentSource, WrittenBody } from "./compile/content-source.ts";
import { requireLayout } from "./compile-with-layout.ts";
import { writtenBody } from "./read-template-body.ts";
import { templates } from "./template.ts";
import { findContentOf, unknownVersion } from "./versions-store.ts";

/** The content fields of a request. Omitted and null mean that the request has none. */
export interface GivenContent {
  readonly subject?: string | null | undefined;
  readonly html_content?: string | null | undefined;
  readonly text_content?: string | null | undefined;
  readonly mjml?: string | null | undefined;
  readonly design?: Record<string, unknown> | null | undefined;
  readonly template_id?: string | null | undefined;
  readonly template_version?: number | null | undefined;
}

/** What a draft has before a request changes it. */
export interface PresentContent {
  readonly mjml: string | null;
  readonly design: Record<string, unknown> | null;
  readonly template_id: string | null;
  readonly template_version: number | null;
}

/** What a caller needs to see a template as a mail, or to make one from it. */
export const READ_TEMPLATES = permissionOf(need(templates, "read"));

export interface ContentDeps {
  readonly db: Queryable;
  readonly compiler: ContentCompiler;
}

/**
 * The body with its content. A html_content of the request is kept as it is: then MJML and design are only stored beside it,
 * and a template is only named. So is a null, if the draft has the same source and template already: its author has removed
 * the HTML that was made from them. A new draft that has only text and names a version is a copy of such a draft.
 * @param present of the draft that the body changes; null for a new one
 * @throws ApiError VALIDATION_ERROR, INSUFFICIENT_SCOPE without `templates:read`, and those of ContentCompiler
 */
export async function takeContent<Body extends GivenContent>(
  deps: ContentDeps,
  caller: Caller,
  body: Body,
  present: PresentContent | null = null,
): Promise<Body> {
  const template = namedTemplate(body, present);
  // HTML in place of HTML that was made from MJML.
  const isStale = body.html_content !== undefined && body.mjml === undefined && present?.mjml != null;
  const isDesignStale = body.html_content === null && body.design === undefined && isDesign(present?.design);
  const named = {
    ...body,
    ...(isStale && { mjml: null }),
    ...(isDesignStale && { design: null }),
    ...(body.template_id === null && { template_version: null }),
  };
  const html = readBody(body.html_content);
  const source = html === null ? sourceOf(body) : null;
  const isRemoved =
    body.html_content !== undefined &&
    (present === null ? isTextOnly(body, source) : isMadeFrom(present, source, template));
  if (html !== null || isRemoved) {
    await requireNamed(deps, caller, template, present);
    return named;
  }
  if (source !== null) {
    // An older source would not fit this content.
    const other = source.format === "mjml" ? { design: null } : { mjml: null };
    return { ...named, ...other, html_content: await compiled(deps, caller, source) };
  }
  return template === null ? named : { ...body, ...(await contentOfTemplate(deps, caller, template, body)) };
}

/**
 * A template that is only named must exist like one that is taken over, unless the draft names it already: then it may have
 * been deleted since.
 */
async function requireNamed(
  { db }: ContentDeps,
  caller: Caller,
  template: NamedTemplate | null,
  present: PresentContent | null,
): Promise<void> {
  if (template === null) return;
  const isPresent = template.id === present?.template_id;
  if (isPresent && (template.version === null || template.version === present.template_version)) return;
  await requireContentOf(db, caller, template);
}

/** Whether a new draft is as GET shows one from a template whose HTML its author has removed. */
function isTextOnly({ text_content, template_version }: GivenContent, source: WrittenSource | null): boolean {
  return source === null && readBody(text_content) !== null && template_version != null;
}

/** Whether a draft has this source and this version of a template, as far as they are given. */
function isMadeFrom(
  present: PresentContent,
  source: WrittenSource | null,
  template: NamedTemplate | null,
): boolean {
  const isSameSource =
    source === null ||
    (source.format === "mjml"
      ? source.mjml === present.mjml
      : isDeepStrictEqual(source.design, present.design));
  const isSameTemplate =
    template === null ||
    (template.id === present.template_id && template.version === present.template_version);
  return isSameSource && isSameTemplate;
}

/** Content that is only shown: it may have what templates have besides. */
export interface ShownContent extends GivenContent {
  readonly preheader?: string | null | undefined;
  readonly layout_id?: string | null | undefined;
}

/** The content as takeContent gives it, with the preheader and in the layout that it names. @throws ApiError as takeContent */
export async function takeShownContent<Body extends ShownContent>(
  deps: ContentDeps,
  caller: Caller,
  body: Body,
): Promise<Body> {
  const { layout_id } = body;
  const preheader = readBody(body.preheader);
  if (preheader === null && layout_id == null) return takeContent(deps, caller, body);
  const html = readBody(body.html_content);
  const source = html === null ? sourceOf(body) : ({ format: "html", html } as const);
  if (source === null) {
    const field = preheader === null ? "layout_id" : "preheader";
    throw fieldError(field, "is for html_content, mjml or a design in the same request");
  }
  if (layout_id != null) requirePermissions(caller, [READ_TEMPLATES]);
  const layout =
    layout_id == null ? null : writtenBody(await requireLayout(deps.db, caller.workspaceId, layout_id));
  return { ...body, html_content: await compiled(deps, caller, source, { preheader, layout }) };
}

type WrittenSource = Exclude<WrittenBody, { format: "html" }>;

interface NamedTemplate {
  readonly id: string;
  /** Null: the present one. */
  readonly version: number | null;
}

/** The MJML or design of a request; null without one. @throws ApiError VALIDATION_ERROR for both */
function sourceOf(body: GivenContent): WrittenSource | null {
  const mjml = readBody(body.mjml);
  const design = body.design != null && isDesign(body.design) ? readDesignSize(body.design) : null;
  if (mjml !== null && design !== null) throw fieldError("mjml", "and design exclude each other: give one");
  if (mjml !== null) return { format: "mjml", mjml };
  return design === null ? null : { format: "design", design };
}

function compiled(
  { compiler }: ContentDeps,
  { workspaceId }: Caller,
  body: WrittenBody,
  around: Pick<ContentSource, "preheader" | "layout"> = { preheader: null, layout: null },
): Promise<string> {
  return compiler.compile(workspaceId, { body, ...around, isLayout: false });
}

/** @throws ApiError VALIDATION_ERROR for a version without a template */
function namedTemplate(
  { template_id: id, template_version: version }: GivenContent,
  present: PresentContent | null,
): NamedTemplate | null {
  if (id != null) return { id, version: version ?? null };
  if (version == null) return null;
  if (id === undefined && present?.template_id != null) return { id: present.template_id, version };
  throw fieldError("template_id", "is required with template_version");
}

/** The content of a template for a draft, with what an editor goes on with: not in a layout, which the source does not have. */
async function contentOfTemplate(
  { db }: ContentDeps,
  caller: Caller,
  template: NamedTemplate,
  given: GivenContent,
): Promise<Required<Omit<GivenContent, "subject">> & { readonly subject: string }> {
  const found = await requireContentOf(db, caller, template);
  const { subject, preheader, compiled_html, text_content, layout_id } = found;
  const hasSource = layout_id === null;
  return {
    subject: given.subject ?? subject,
    html_content: compiled_html,
    text_content: given.text_content === undefined ? text_content : given.text_content,
    mjml: hasSource && found.mjml !== null ? mjmlWith(found.mjml, preheader) : null,
    design: hasSource && found.design !== null ? designWith(found.design, preheader) : null,
    template_id: template.id,
    template_version: found.version,
  };
}

async function requireContentOf(db: Queryable, caller: Caller, { id, version }: NamedTemplate) {
  requirePermissions(caller, [READ_TEMPLATES]);
  const found = await findContentOf(db, caller.workspaceId, id, version);
  if (found === undefined) throw fieldError("template_id", unknownVersion(version));
  if (found.kind === "layout") throw fieldError("template_id", "is a layout: name a template in it");
  return found;
}

/** A draft has no preheader of its own, so its source has it. */
function mjmlWith(mjml: string, preheader: string | null): string {
  return preheader === null ? mjml : (withPreview(mjml, preheader) ?? mjml);
}

function designWith(design: Record<string, unknown>, preheader: string | null): Record<string, unknown> {
  return preheader === null ? design : { ...design, preheader };
}
