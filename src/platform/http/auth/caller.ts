import type { WorkspaceId } from "#platform/ids.ts";

/** An API key that calls. */
export interface KeyActor {
  readonly kind: "key";
  readonly id: string;
  readonly name: string;
}

/** A person who is signed in with a session (session-cookie.ts). */
export interface PersonActor {
  readonly kind: "person";
  /** Id of the user. */
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** Whether the person operates the installation: suspends workspaces, credits accounts, changes plans. */
  readonly isOperator: boolean;
  readonly sessionId: string;
  /** When the person last proved who they are in this session: at sign-in, or by reauthenticating. */
  readonly confirmedAt: Date;
  /** Whether the session was opened with a second factor, or with a passkey. */
  readonly hasSecondFactor: boolean;
}

export type Actor = KeyActor | PersonActor;

/** What a request needs to know of its workspace, as cached for a few seconds (authenticate.ts). */
export interface CallerWorkspace {
  readonly workspaceId: WorkspaceId;
  /** IANA name. */
  readonly timezone: string;
  readonly isSuspended: boolean;
  /** Sender of transactional mail without a sender. */
  readonly defaultSender: string | null;
  /** How long deferred mail of the workspace is retried. */
  readonly retryHours: number;
  /** Whether opens and clicks of transactional mail are tracked. */
  readonly tracksTransactional: boolean;
}

/** The caller of a request in a workspace: an API key of it, or a person who is a member. */
export interface Caller extends CallerWorkspace {
  readonly actor: Actor;
  /** Of the key, or of the member's role. */
  readonly permissions: readonly string[];
}

/** A signed-in person outside a workspace. */
export interface SignedIn {
  readonly actor: PersonActor;
}

/** A request that needs no authentication, such as a sign-in. */
export interface Visitor {
  readonly actor: null;
}

/** The caller, if it is one in a workspace: undefined for visitors, people outside a workspace, and before authentication. */
export function workspaceCaller(caller: Caller | SignedIn | Visitor | undefined): Caller | undefined {
  return caller !== undefined && "workspaceId" in caller ? caller : undefined;
}
