/** People: find anyone of the workspace, and act on many. */
import { PeopleList } from "./people-list.tsx";

export function PeoplePage() {
  return <PeopleList />;
}
