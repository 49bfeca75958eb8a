/** In place of a page: the address names none, or the role of the person does not open it. */
import { Link } from "@tanstack/react-router";
import permissions from "operation-permissions";
import type { ReactNode } from "react";
import { usePlace } from "../api/session.tsx";
import { Failure } from "../parts/failure.tsx";
import type { PageEntry } from "./pages.ts";

export function NoPage() {
  return (
    <Notice title="Page not found">
      <p>
        The address names no page of the console. It may be cut off, or what it named may have been deleted.
      </p>
      <Link to="/" className="mt-4 inline-block text-accent hover:underline">
        Home
      </Link>
    </Notice>
  );
}

export function NoRight({ page: { name, lists } }: { readonly page: PageEntry }) {
  const { workspace } = usePlace();
  const permission = lists && permissions[lists];
  return (
    <Notice title={name}>
      <p>
        Your role ({workspace.role.name}) lacks{" "}
        {permission ? <code className="font-mono">{permission}</code> : "the permission for this page"}. An
        owner of {workspace.name} can give you another role.
      </p>
    </Notice>
  );
}

export function BrokenPage({ error }: { readonly error: unknown }) {
  return (
    <Notice title="This page cannot be shown">
      <Failure error={error} onRetry={() => location.reload()} />
    </Notice>
  );
}

export function NoWorkspace() {
  return (
    <main>
      <Notice title="Not your workspace">
        <p>You are not a member of this workspace, or it does not exist.</p>
        <Link to="/" className="mt-4 inline-block text-accent hover:underline">
          Your workspaces
        </Link>
      </Notice>
    </main>
  );
}

function Notice({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="mx-auto max-w-md px-6 py-24">
      <h1 className="text-title font-semibold">{title}</h1>
      <div className="mt-2 text-muted">{children}</div>
    </div>
  );
}
