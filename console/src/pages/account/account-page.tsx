/** The person's own account, the same in every workspace. */

import { useSignInWays } from "../../api/sign-in-ways.ts";
import { Page, Panel } from "../../parts/page.tsx";
import { Address } from "./address.tsx";
import { Factors } from "./factors.tsx";
import { Look } from "./look.tsx";
import { Password } from "./password.tsx";
import { Profile } from "./profile.tsx";
import { Sessions } from "./sessions.tsx";
import { Workspaces } from "./workspaces.tsx";

export function AccountPage() {
  const { data: ways } = useSignInWays();
  return (
    <Page title="Your account">
      <Panel title="Profile">
        <Profile />
      </Panel>
      <Panel title="Look and keyboard">
        <Look />
      </Panel>
      <Panel title="Email">
        <Address />
      </Panel>
      {ways?.passwords && (
        <Panel title="Password">
          <Password />
        </Panel>
      )}
      <Factors />
      <Panel title="Workspaces">
        <Workspaces />
      </Panel>
      <Sessions />
    </Page>
  );
}
