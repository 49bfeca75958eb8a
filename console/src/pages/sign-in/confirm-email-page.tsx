/** Confirming a new address with the link that was mailed to it. */

import { PosthasteError } from "@posthaste/client";
import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Column } from "./column.tsx";
import { ToSignIn, WithToken } from "./link.tsx";

export function ConfirmEmailPage() {
  return <WithToken>{(token) => <Confirm key={token} token={token} />}</WithToken>;
}

function Confirm({ token }: { readonly token: string }) {
  const confirm = useOnce({ mutationFn: () => openApi.confirmEmailChange({ body: { token } }) });
  if (confirm.data)
    return (
      <Column title="Your address is changed">
        <p role="status">You sign in with {confirm.data.email} from now on.</p>
        <ToSignIn kind="primary">Go to the console</ToSignIn>
      </Column>
    );
  const isEnded = confirm.error instanceof PosthasteError && confirm.error.status === 404;
  return (
    <Column title={isEnded ? "This link works no more" : "Confirm your new address"}>
      {!isEnded && <p>From then on you sign in with the address that this link was mailed to.</p>}
      {confirm.error && <Failure error={confirm.error} />}
      {isEnded ? (
        <ToSignIn>Go to the console</ToSignIn>
      ) : (
        <Button
          kind="primary"
          className="h-10"
          autoFocus
          isPending={confirm.isPending}
          onPress={() => confirm.mutate()}
        >
          Confirm the address
        </Button>
      )}
    </Column>
  );
}
