
/host:metadata