/** The way to the local inbox, for operators: it has the mail of all workspaces, and asks others for its token. */
import { usePlace } from "../api/session.tsx";

export function InboxLink({
  className,
  children,
}: {
  readonly className: string;
  readonly children: string;
}) {
  const { session } = usePlace();
  if (!session.person.is_operator) return children;
  return (
    <a href="/inbox" target="_blank" rel="noreferrer" className={className}>
      {children}
    </a>
  );
}
