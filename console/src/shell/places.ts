/** Where the console shows what the API names: results of a search, and what notices are about. */
import type { Schema } from "@posthaste/client";
import type { Workspace } from "../api/session.tsx";
import { closedPage } from "./pages.ts";

type ResultKind = Schema<"SearchResult">["kind"];
type NoticeKind = Schema<"NoticeResource">["kind"];

/** Kinds without a page of their own lead to the page that lists them, or nowhere. */
const resultPlaces: Readonly<Record<ResultKind, ((ids: readonly string[]) => string) | undefined>> = {
  subscriber: ([id]) => `people/${id}`,
  campaign: ([id]) => `campaigns/${id}`,
  message: ([id]) => `messages/${id}`,
  mailing_list: ([id]) => `lists/${id}`,
  segment: ([list, segment]) => `lists/${list}/segments/${segment}`,
  sending_domain: ([id]) => `domains/${id}`,
  suppression_entry: ([list]) => `suppression/${list}`,
  api_key: () => "api-keys",
  autoresponder: undefined,
  webhook: undefined,
};

/** The page below the workspace; undefined where the console has none. */
export function placeOfResult({ kind, path }: Schema<"SearchResult">): string | undefined {
  return resultPlaces[kind]?.(idsIn(path));
}

const noticePlaces: Readonly<Record<NoticeKind, ((id: string) => string) | undefined>> = {
  campaign: (id) => `campaigns/${id}`,
  sending_domain: (id) => `domains/${id}`,
  job: () => "jobs",
  autoresponder: undefined,
  blacklist_monitor: undefined,
  webhook: undefined,
  billing: undefined,
  workspace: undefined,
};

/** The page below the workspace; undefined where the console has none, or the role of the person does not open it. */
export function placeOfNotice(
  workspace: Workspace,
  { resource: { kind, id } }: Schema<"Notice">,
): string | undefined {
  const place = noticePlaces[kind]?.(id ?? "");
  return place === undefined || closedPage(workspace, place) ? undefined : place;
}

function idsIn(path: string): readonly string[] {
  return path.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi) ?? [];
}
