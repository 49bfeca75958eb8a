/** Autoresponders over HTTP. */
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { choiceField, pageFields } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import { Deleted } from "#platform/shapes.ts";
import {
  Autoresponder,
  AutoresponderSummary,
  autoresponderStatuses,
  autoresponders,
  NewAutoresponder,
} from "./autoresponder.ts";
import {
  type AutoresponderDeps,
  activate,
  createAutoresponder,
  deactivate,
  deleteAutoresponder,
  replaceAutoresponder,
  requireAutoresponder,
} from "./lifecycle.ts";
import { countAutoresponders, listAutoresponders } from "./store.ts";

/** Twenty steps with their bodies. */
const BODY_LIMIT = 10 * 1024 * 1024;

export function autoresponderEndpoints(deps: AutoresponderDeps): Endpoint[] {
  const { db } = deps;
  return [
    endpoint({
      id: "listAutoresponders",
      method: "GET",
      path: "/autoresponders",
      summary: "Autoresponders with their counts, newest first",
      description:
        "Series of mails that people get one after another, with how many were sent, opened and clicked.",
      needs: need(autoresponders, "read"),
      query: {
        status: choiceField(autoresponderStatuses, "Only autoresponders in this status."),
        ...pageFields(),
      },
      answer: pageOf("autoresponders", AutoresponderSummary),
      message: "Autoresponders",
      async handle({ caller: { workspaceId }, query }) {
        const page = { limit: query.limit, offset: offsetOf(query) };
        const [rows, total] = await Promise.all([
          listAutoresponders(db, workspaceId, query, page),
          countAutoresponders(db, workspaceId, query),
        ]);
        return { autoresponders: rows, pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "createAutoresponder",
      method: "POST",
      path: "/autoresponders",
      mayTakeLong: "working aside",
      summary: "Create an autoresponder; it is inactive",
      description:
        "A series starts when a person becomes an active member of the list, or on a date in a custom field. Nothing is sent until `POST /autoresponders/{id}/activate`.",
      needs: need(autoresponders, "write"),
      body: NewAutoresponder,
      answer: Autoresponder,
      status: 201,
      message: "Autoresponder created",
      errors: ["BAD_REQUEST", "PLAN_LIMIT_REACHED"],
      idempotent: true,
      bodyLimit: BODY_LIMIT,
      handle: (request) => createAutoresponder(deps, request),
    }),
    endpoint({
      id: "getAutoresponder",
      method: "GET",
      path: "/autoresponders/{id}",
      summary: "One autoresponder with its steps",
      description: "The series with the content of every step.",
      needs: need(autoresponders, "read"),
      answer: Autoresponder,
      message: "Autoresponder",
      handle: ({ caller, params }) => requireAutoresponder(db, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "replaceAutoresponder",
      method: "PUT",
      path: "/autoresponders/{id}",
      mayTakeLong: "working aside",
      summary: "Replace an autoresponder, active or not; omitted fields return to their defaults",
      description:
        "Send the `id` of a step to change it; a step without an id is new, and one that is missing is removed with its queued mail. People who are in the series continue with the changed steps.",
      needs: need(autoresponders, "write"),
      outward: "sends",
      body: NewAutoresponder,
      answer: Autoresponder,
      message: "Autoresponder updated",
      bodyLimit: BODY_LIMIT,
      errors: ["CONFLICT", "BAD_REQUEST", "PLAN_LIMIT_REACHED"],
      handle: ({ caller, params, body }) => replaceAutoresponder(deps, caller, params.id, body),
    }),
    endpoint({
      id: "deleteAutoresponder",
      method: "DELETE",
      path: "/autoresponders/{id}",
      summary: "Delete an autoresponder; its queued mail is cancelled, its sent mail stays in the log",
      description: "Figures and messages stay in reports and in the log, with its name.",
      needs: need(autoresponders, "write"),
      answer: Deleted,
      message: "Autoresponder deleted",
      async handle({ caller, params }) {
        await deleteAutoresponder(deps, caller.workspaceId, params.id);
        return { id: params.id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "activateAutoresponder",
      method: "POST",
      path: "/autoresponders/{id}/activate",
      summary: "Start or resume: people who join from now on get the series",
      description:
        "Content, sender and list are checked again. People who joined while it was inactive do not get the series.",
      needs: need(autoresponders, "send"),
      answer: Autoresponder,
      message: "Autoresponder activated",
      errors: ["CONFLICT", "BAD_REQUEST", "EMAIL_NOT_VERIFIED"],
      handle: ({ caller, params }) => activate(deps, caller, params.id),
    }),
    endpoint({
      id: "deactivateAutoresponder",
      method: "POST",
      path: "/autoresponders/{id}/deactivate",
      summary: "Stop at once: messages being sent are finished, no others are sent",
      description:
        "Queued mail waits, and is sent after the next activation. No person starts the series while it is inactive.",
      needs: need(autoresponders, "send"),
      outward: "nothing",
      answer: Autoresponder,
      message: "Autoresponder deactivated",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => deactivate(deps, caller.workspaceId, params.id),
    }),
  ];
}
