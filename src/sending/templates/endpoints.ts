/** Templates, layouts and their versions over HTTP. */
import { Type } from "typebox";
import { findUsers, type ObjectUse } from "#audience/uses/used-by.ts";
import { required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { choiceField, pageFields, textField } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import { Deleted } from "#platform/shapes.ts";
import { etagOf } from "#sending/revision.ts";
import {
  changeTemplate,
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  requireTemplate,
  restoreVersion,
  type TemplateDeps,
} from "./save-template.ts";
import { listStarters, TemplateStarter } from "./starters/list-starters.ts";
import { countTemplates, listTemplates, type StoredTemplate } from "./store.ts";
import {
  MailTemplate,
  NewTemplate,
  TemplateChange,
  TemplateSummary,
  TemplateVersion,
  TemplateVersionSummary,
  templateKinds,
  templates,
} from "./template.ts";
import { countVersions, findVersion, listVersions, MOST_VERSIONS } from "./versions-store.ts";

/** A body and a text of two million characters each. */
const BODY_LIMIT = 30 * 1024 * 1024;

const withoutField = choiceField(
  ["content"],
  "`content`: html_content, mjml, design and text_content are null, and compiled_html is empty.",
);

export interface TemplateEndpointDeps extends TemplateDeps {
  /** What uses templates, by their ids. */
  readonly uses: readonly ObjectUse<string>[];
}

export function templateEndpoints(deps: TemplateEndpointDeps): Endpoint[] {
  const { db, uses } = deps;
  const withUsers = async ({ workspaceId, permissions }: Caller, template: StoredTemplate) => {
    const usersOf = await findUsers(db, workspaceId, permissions, [template.id], uses);
    return { ...template, used_by: usersOf(template.id) };
  };
  const shown = async (caller: Caller, id: string, without?: "content") =>
    withUsers(caller, await requireTemplate(db, caller.workspaceId, id, without));
  return [
    endpoint({
      id: "listTemplates",
      method: "GET",
      path: "/templates",
      summary: "Templates and layouts without their content, those that were changed last first",
      description:
        "What mails can be made from. `POST /render` with `template_id` shows one as a mail. `search` finds parts of name and subject.",
      needs: need(templates, "read"),
      query: {
        kind: choiceField(templateKinds, "Only mails, or only layouts."),
        search: textField(200, "A part of name or subject."),
        ...pageFields(),
      },
      answer: pageOf("templates", TemplateSummary),
      message: "Templates",
      async handle({ caller: { workspaceId, permissions }, query }) {
        const page = { limit: query.limit, offset: offsetOf(query) };
        const [rows, total] = await Promise.all([
          listTemplates(db, workspaceId, query, page),
          countTemplates(db, workspaceId, query),
        ]);
        const ids = rows.map(({ id }) => id);
        const usersOf = await findUsers(db, workspaceId, permissions, ids, uses);
        return {
          templates: rows.map((row) => ({ ...row, used_by: usersOf(row.id) })),
          pagination: pagination(query, total),
        };
      },
    }),
    endpoint({
      id: "listTemplateStarters",
      method: "GET",
      path: "/templates/starters",
      summary: "Designs to begin with, such as a newsletter or a receipt",
      description:
        "Twelve designs with subject, preheader and sample values. `POST /templates` makes a template of one: send its fields, changed as you like. They use no pictures of other hosts.",
      needs: need(templates, "read"),
      answer: Type.Array(TemplateStarter),
      message: "Starters",
      handle: async () => [...listStarters()],
    }),
    endpoint({
      id: "createTemplate",
      method: "POST",
      path: "/templates",
      mayTakeLong: "working aside",
      summary: "Create a template from HTML, MJML or a design, or a layout around templates",
      description:
        "The content is compiled and tried at once: faults are refused with their lines, and `warnings` names merge tags without a value. A workspace has at most 1,000 templates.",
      needs: need(templates, "write"),
      body: NewTemplate,
      answer: MailTemplate,
      status: 201,
      message: "Template created",
      etag: etagOf,
      idempotent: true,
      bodyLimit: BODY_LIMIT,
      errors: ["BAD_REQUEST", "CONFLICT", "PLAN_LIMIT_REACHED"],
      async handle({ caller, body }) {
        return withUsers(caller, await createTemplate(deps, caller, body));
      },
    }),
    endpoint({
      id: "getTemplate",
      method: "GET",
      path: "/templates/{id}",
      summary: "One template with its content, as written and as sent",
      description:
        "The body is in the field in which it was written; `compiled_html` is what is sent, before merge tags have their values.",
      needs: need(templates, "read"),
      query: { without: withoutField },
      auditQuery: { without: "content" },
      answer: MailTemplate,
      message: "Template",
      etag: etagOf,
      handle: ({ caller, params, query }) => shown(caller, params.id, query.without),
    }),
    endpoint({
      id: "updateTemplate",
      method: "PATCH",
      path: "/templates/{id}",
      mayTakeLong: "working aside",
      summary: "Change some fields of a template; new content is a new version",
      description: `Omitted fields stay as they are. Versions never change, and the last ${MOST_VERSIONS} are kept. A change of a layout gives each template in it a new version, too. What was made from the template before stays as it is: campaigns and autoresponders have a copy. Send \`If-Match\` with the ETag of the version you have seen to get 412 if another request has changed it.`,
      needs: need(templates, "write"),
      query: { without: withoutField },
      body: TemplateChange,
      answer: MailTemplate,
      message: "Template updated",
      conditional: true,
      etag: etagOf,
      bodyLimit: BODY_LIMIT,
      errors: ["BAD_REQUEST", "CONFLICT", "PLAN_LIMIT_REACHED"],
      async handle({ caller, params: { id }, query, body, mayBe }) {
        await changeTemplate(deps, caller, { id, body, mayBe });
        return shown(caller, id, query.without);
      },
    }),
    endpoint({
      id: "deleteTemplate",
      method: "DELETE",
      path: "/templates/{id}",
      summary: "Delete a template with all its versions",
      description:
        "Campaigns and autoresponders keep the content that they took from it. A layout that wraps templates is not deleted (409); `used_by` names them.",
      needs: need(templates, "write"),
      answer: Deleted,
      message: "Template deleted",
      conditional: true,
      errors: ["CONFLICT"],
      async handle({ caller, params, mayBe }) {
        await deleteTemplate(deps, caller.workspaceId, params.id, mayBe);
        return { id: params.id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "duplicateTemplate",
      method: "POST",
      path: "/templates/{id}/duplicate",
      mayTakeLong: "working aside",
      summary: "Duplicate a template with its present content",
      description: "The copy begins with version 1. Templates in a layout stay in the original.",
      needs: need(templates, "write"),
      answer: MailTemplate,
      status: 201,
      message: "Template duplicated",
      errors: ["BAD_REQUEST", "CONFLICT", "PLAN_LIMIT_REACHED"],
      async handle({ caller, params }) {
        return withUsers(caller, await duplicateTemplate(deps, caller, params.id));
      },
    }),
    endpoint({
      id: "listTemplateVersions",
      method: "GET",
      path: "/templates/{id}/versions",
      summary: "The versions of a template without their content, the newest first",
      description: `Who saved what, and when. The last ${MOST_VERSIONS} versions are kept.`,
      needs: need(templates, "read"),
      query: pageFields(),
      answer: pageOf("versions", TemplateVersionSummary),
      message: "Versions",
      async handle({ caller: { workspaceId }, params: { id }, query }) {
        await requireTemplate(db, workspaceId, id, "content");
        const page = { limit: query.limit, offset: offsetOf(query) };
        const [versions, total] = await Promise.all([
          listVersions(db, workspaceId, id, page),
          countVersions(db, workspaceId, id),
        ]);
        return { versions, pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "getTemplateVersion",
      method: "GET",
      path: "/templates/{id}/versions/{version_id}",
      summary: "One version of a template with its content",
      description: "The content as it was written and as it was sent. It never changes.",
      needs: need(templates, "read"),
      answer: TemplateVersion,
      message: "Version",
      handle: async ({ caller, params }) =>
        required(await findVersion(db, caller.workspaceId, params.id, params.version_id), "Version"),
    }),
    endpoint({
      id: "restoreTemplateVersion",
      method: "POST",
      path: "/templates/{id}/versions/{version_id}/restore",
      mayTakeLong: "working aside",
      summary: "Make the content of an older version the present one, as a new version",
      description:
        "Nothing is lost: the present content stays in its own version. Restoring the present content makes no version. The content is compiled again, with its layout as it is now. Refused (400) if that layout was deleted.",
      needs: need(templates, "write"),
      answer: MailTemplate,
      message: "Version restored",
      conditional: true,
      etag: etagOf,
      errors: ["BAD_REQUEST", "CONFLICT", "PLAN_LIMIT_REACHED"],
      async handle({ caller, params: { id, version_id: versionId }, mayBe }) {
        await restoreVersion(deps, caller, { id, versionId, mayBe });
        return shown(caller, id);
      },
    }),
  ];
}
