/** A link to another page of the workspace; only its words where the role of the person does not open that page. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePlace } from "../api/session.tsx";
import { closedPage } from "./pages.ts";

/** What only a link looks like: its colour, its line, and what it does under the pointer. */
const LINK_LOOK = /^(?:text-(?:accent|link)|underline(?:-.*)?|hover:.*|group.*)$/;

interface Props {
  /** The address below the workspace. */
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly className?: string;
  readonly children: ReactNode;
}

export function PlaceLink({ to, search, className, children }: Props) {
  const { workspace } = usePlace();
  if (closedPage(workspace, to))
    return <span {...(className && { className: withoutLook(className) })}>{children}</span>;
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

/** The classes of the layout, such as the one that cuts off a long name. */
function withoutLook(className = ""): string {
  return className
    .split(" ")
    .filter((one) => !LINK_LOOK.test(one))
    .join(" ");
}
