"""The load benchmark of the server: thousands of simulated agents against one real `gitcfg serve`."""
