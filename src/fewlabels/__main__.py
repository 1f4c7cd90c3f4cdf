from fewlabels.cli import main

main()
