/** A campaign that is still to come, or cannot be loaded; with the heading that every page has. */
import { Failure } from "../../parts/failure.tsx";

export function WaitingCampaign() {
  return (
    <div aria-busy className="h-full">
      <h1 className="sr-only">Campaign</h1>
    </div>
  );
}

export function FailedCampaign(props: Parameters<typeof Failure>[0]) {
  return (
    <>
      <h1 className="sr-only">Campaign</h1>
      <Failure {...props} />
    </>
  );
}
