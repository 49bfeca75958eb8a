/** The team: the people with their roles, invitations that wait, and the roles. */
import { mayCall, usePlace } from "../../api/session.tsx";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Together } from "../../parts/together.tsx";
import { Invitations } from "./invitations.tsx";
import { Invite } from "./invite.tsx";
import { Roles } from "./roles.tsx";
import { Teammates, useTeammates } from "./teammates.tsx";

export function TeamPage() {
  const { workspace } = usePlace();
  const { isPending } = useTeammates();
  const people = {
    id: "people",
    name: "People",
    content: () => (
      <>
        <Teammates />
        {mayCall(workspace, "listInvitations") && (
          <Together isWaiting={isPending}>
            <Invitations />
          </Together>
        )}
      </>
    ),
  };
  const roles = { id: "roles", name: "Roles", content: () => <Roles /> };
  return (
    <Page title="Team" acts={mayCall(workspace, "inviteTeammate") && <Invite />}>
      <Tabs label="Team" views={mayCall(workspace, "listRoles") ? [people, roles] : [people]} />
    </Page>
  );
}
