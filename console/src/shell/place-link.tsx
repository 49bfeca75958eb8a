/** A link to another page of the workspace; only its words where the role of the person does not open that page. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePlace } from "../api/session.tsx";
import { closedPage } from "./pages.ts";

interface Props {
  /** The address below the workspace. */
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly className?: string;
  readonly children: ReactNode;
}

export function PlaceLink({ to, search, className, children }: Props) {
  const { workspace } = usePlace();
  if (closedPage(workspace, to)) return <span>{children}</span>;
  return (
    <Link
      to={`/${workspace.id}/${to}`}
      {...(search && { search: search as never })}
      {...(className && { className })}
    >
      {children}
    </Link>
  );
}
