/** Which parts of a person's data a caller may read: each part needs the permission of its noun. */
import { mailingLists } from "#audience/mailing-lists/permission.ts";
import { suppressionLists } from "#audience/suppression-lists/permission.ts";
import { validations } from "#hygiene/validations/validation.ts";
import { receivedEmails } from "#inbound/received/permission.ts";
import { reports } from "#messages/permission.ts";
import { missingPermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf, type Resource } from "#platform/http/endpoint.ts";
import { audit } from "#workspace/audit/permission.ts";
import { type ActivityKind, activityKinds } from "./activities-store.ts";

const reading = (resource: Resource) => permissionOf(need(resource, "read"));

/** The permissions beside `subscribers:read` that parts of a copy of a person's data need. */
export const partPermissions = {
  suppression_entries: reading(suppressionLists),
  signup_requests: reading(mailingLists),
  validations: reading(validations),
  received_emails: reading(receivedEmails),
  messages: reading(reports),
} as const;
export type PersonPart = keyof typeof partPermissions;

export function mayReadPart(part: PersonPart, permissions: readonly string[]): boolean {
  return missingPermissions(permissions, [partPermissions[part]]).length === 0;
}

/** The permission beside `subscribers:read` that activities of a kind need; undefined if none. */
export function permissionForKind(kind: ActivityKind): string | undefined {
  if (kind === "joined" || kind === "left") return undefined;
  return kind === "changed" ? reading(audit) : partPermissions.messages;
}

export function readableKinds(permissions: readonly string[]): ActivityKind[] {
  return activityKinds.filter((kind) => {
    const wanted = permissionForKind(kind);
    return wanted === undefined || missingPermissions(permissions, [wanted]).length === 0;
  });
}
