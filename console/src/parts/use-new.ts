/** Whether the form for a new thing is open: `?new=true` in the address, as keys, the palette and the checklist ask for it. */
import { useNavigate, useSearch } from "@tanstack/react-router";

export function useNew(): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const { new: isOpen, ...others } = useSearch({ strict: false }) as { readonly new?: boolean };
  const navigate = useNavigate();
  const setOpen = (next: boolean) =>
    void navigate({ to: ".", search: (next ? { ...others, new: true } : others) as never, replace: true });
  return [isOpen === true, setOpen];
}
