
aabc