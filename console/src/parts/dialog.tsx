/** A dialog over the page, and the question before an act that cannot be undone. */
import { type ReactNode, useState } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Button } from "./button.tsx";
import { Failure } from "./failure.tsx";
import { Field } from "./field.tsx";

interface Props {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}

export function Dialog({ title, isOpen, onClose, children, isWide = false }: Props) {
  return (
    <ModalOverlay
      isDismissable
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      className="fixed inset-0 z-40 grid grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto bg-black/40 p-4"
    >
      <Modal
        className={`w-full rounded-panel bg-surface shadow-overlay ${isWide ? "max-w-3xl" : "max-w-md"}`}
      >
        <AriaDialog className="p-6 outline-none">
          <Heading slot="title" className="mb-4 text-[17px] font-semibold">
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface QuestionProps extends Omit<Props, "isWide"> {
  /** The act on the button: "Delete the key". */
  readonly act: string;
  readonly onConfirm: () => void;
  readonly isPending: boolean;
  readonly error: unknown;
  /** What has to be typed before the act, where much is lost: the name of the thing. */
  readonly typed?: string;
}

/** Names the object in its title and the consequence in its text. */
export function Question({ act, onConfirm, isPending, error, typed, children, ...rest }: QuestionProps) {
  const [text, setText] = useState("");
  const [isAsked, setAsked] = useState(false);
  const isTyped = typed === undefined || text === typed;
  return (
    <Dialog {...rest}>
      <div className="text-muted">{children}</div>
      {typed !== undefined && (
        <div className="mt-4">
          <Field
            label={`Type “${typed}” to confirm`}
            value={text}
            onChange={setText}
            isInvalid={isAsked && !isTyped}
            errorMessage="The name differs from what is typed."
            autoFocus
          />
        </div>
      )}
      {error !== null && error !== undefined && (
        <div className="mt-4">
          <Failure error={error} />
        </div>
      )}
      <div className="mt-6 flex justify-end gap-2">
        <Button onPress={rest.onClose}>Keep it</Button>
        <Button kind="danger" onPress={() => (isTyped ? onConfirm() : setAsked(true))} isPending={isPending}>
          {act}
        </Button>
      </div>
    </Dialog>
  );
}
