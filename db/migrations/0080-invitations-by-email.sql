-- A single sign-on looks up whether an unknown address is invited.
create index invitations_by_email on invitations (email);
