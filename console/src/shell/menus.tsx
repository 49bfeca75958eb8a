/** The menus of the side bar: the workspaces, and the person with the theme. */
import { PosthasteError } from "@posthaste/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronsUpDown } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, Header, Menu, MenuItem, MenuTrigger, Popover, Section } from "react-aria-components";
import { openApi } from "../api/client.ts";
import { usePlace } from "../api/session.tsx";
import { useTheme } from "../api/theme.ts";
import { themes } from "../parts/theme.ts";
import { NewWorkspaceDialog } from "./new-workspace.tsx";

const NEW = "new";

export function WorkspaceMenu() {
  const { session, workspace } = usePlace();
  const navigate = useNavigate();
  const [isMaking, setMaking] = useState(false);
  const onAction = (id: string | number) => {
    if (id === NEW) return setMaking(true);
    void navigate({ to: `/${id}/` });
  };
  return (
    <>
      <MenuTrigger>
        <Button className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded-control px-2 font-semibold hover:bg-sunken">
          <Initial text={workspace.name} />
          <span className="truncate">{workspace.name}</span>
          <ChevronsUpDown size={14} aria-hidden className="ml-auto text-muted" />
        </Button>
        <Overlay>
          <Menu aria-label="Workspaces" className="outline-none" onAction={onAction}>
            {session.workspaces.map(({ id, name, role }) => (
              <Item key={id} id={id} isChosen={id === workspace.id}>
                {name} <span className="ml-2 text-muted">{role.name}</span>
              </Item>
            ))}
            {session.person.is_operator && <Item id={NEW}>Create a workspace …</Item>}
          </Menu>
        </Overlay>
      </MenuTrigger>
      {isMaking && <NewWorkspaceDialog onClose={() => setMaking(false)} />}
    </>
  );
}

export function PersonMenu({ isFolded }: { readonly isFolded: boolean }) {
  const { session, workspace } = usePlace();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { theme, choose } = useTheme();
  const act = async (id: string | number) => {
    const wanted = themes.find((one) => one.id === id);
    if (wanted) return choose(wanted.id);
    if (id === "account") return navigate({ to: `/${workspace.id}/account` });
    // An ended session is signed out already.
    await openApi.signOut().catch((error) => {
      if (!(error instanceof PosthasteError) || error.status !== 401) throw error;
    });
    queries.clear();
    location.assign("/console/sign-in");
  };
  return (
    <MenuTrigger>
      <Button
        aria-label={`Account of ${session.person.name}`}
        className="flex h-9 w-full min-w-0 items-center gap-2 rounded-control px-2 hover:bg-sunken"
      >
        <Initial text={session.person.name} />
        {!isFolded && <span className="truncate">{session.person.name}</span>}
      </Button>
      <Overlay>
        <Menu aria-label="Account" className="outline-none" onAction={(id) => void act(id)}>
          <Item id="account">Your account</Item>
          <Section>
            <Header className="px-3 pt-2 pb-1 text-small text-muted">Theme</Header>
            {themes.map(({ id, name }) => (
              <Item key={id} id={id} isChosen={id === theme}>
                {name}
              </Item>
            ))}
          </Section>
          <Item id="sign-out">Sign out</Item>
        </Menu>
      </Overlay>
    </MenuTrigger>
  );
}

function Overlay({ children }: { readonly children: ReactNode }) {
  return <Popover className="min-w-56 rounded-panel bg-surface p-1 shadow-overlay">{children}</Popover>;
}

function Item({
  id,
  isChosen = false,
  children,
}: {
  readonly id: string;
  readonly isChosen?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <MenuItem
      id={id}
      textValue={id}
      className="flex h-8 items-center gap-2 rounded px-3 outline-none data-[focused]:bg-selected"
    >
      <span className="flex-1">{children}</span>
      {isChosen && <Check size={14} aria-hidden />}
    </MenuItem>
  );
}

/** The letter is no text, so that the name of the button is what it shows. */
function Initial({ text }: { readonly text: string }) {
  return (
    <span
      aria-hidden
      data-letter={Array.from(text.trim())[0]?.toUpperCase() ?? "?"}
      // Drawn by the style, so that it is no part of the name of the button.
      className="grid h-5 w-5 shrink-0 place-items-center rounded bg-accent text-[11px] font-semibold text-on-accent before:content-[attr(data-letter)]"
    />
  );
}
