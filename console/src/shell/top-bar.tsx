/** The bar of narrow screens: a button for the side bar as a sheet, the search, jobs and notices. */

import { useLocation } from "@tanstack/react-router";
import { Menu, Search, X } from "lucide-react";
import { useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { usePlace } from "../api/session.tsx";
import { IconButton } from "../parts/button.tsx";
import { JobsTray } from "./jobs-tray.tsx";
import { PersonMenu, WorkspaceMenu } from "./menus.tsx";
import { Navigation } from "./navigation.tsx";
import { NoticesBell } from "./notices-bell.tsx";

export function TopBar({ onSearch }: { readonly onSearch: () => void }) {
  const { workspace } = usePlace();
  const path = useLocation({ select: ({ pathname }) => pathname });
  // Another page closes the sheet.
  const [openAt, setOpenAt] = useState<string>();
  const close = () => setOpenAt(undefined);
  return (
    <header className="flex h-12 shrink-0 items-center gap-1 border-b border-line bg-canvas px-2 min-[901px]:hidden">
      <IconButton
        label="Open the menu"
        icon={<Menu size={18} aria-hidden />}
        onPress={() => setOpenAt(path)}
        className="h-10 w-10"
      />
      <span className="min-w-0 flex-1 truncate font-semibold">{workspace.name}</span>
      <JobsTray />
      <NoticesBell />
      <IconButton
        label="Search"
        icon={<Search size={18} aria-hidden />}
        onPress={onSearch}
        className="h-10 w-10"
      />
      <ModalOverlay
        isDismissable
        isOpen={openAt === path}
        onOpenChange={(isOpen) => !isOpen && close()}
        className="fixed inset-0 z-40 bg-black/40"
      >
        <Modal className="h-dvh w-72 max-w-[85vw] bg-canvas shadow-overlay">
          <Dialog aria-label="Menu" className="flex h-full flex-col outline-none">
            <div className="flex h-12 shrink-0 items-center gap-1 px-3">
              <WorkspaceMenu />
              <IconButton label="Close the menu" icon={<X size={18} aria-hidden />} onPress={close} />
            </div>
            <Navigation />
            <div className="mt-auto border-t border-line p-2">
              <PersonMenu isFolded={false} />
            </div>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </header>
  );
}
